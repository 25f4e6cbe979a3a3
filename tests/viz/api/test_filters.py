"""What the API answers about the filters of a picture equals the analysis."""

from collections.abc import Callable, Generator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from analysis.filters import hidden, strongest
from analysis.view import View
from models.run import load, trace
from viz.api import registry
from viz.api.entries import TraceEntry
from viz.routes import routes

Get = Callable[..., Any]


@pytest.fixture(scope="module")
def shown() -> View:
    return View(trace(load("dates"), "2 March 2024"), words=False)


@pytest.fixture(scope="module")
def get(shown: View) -> Generator[Get, None, None]:
    held = registry.once(("filters", id(shown)), lambda: TraceEntry(shown, lambda *_: ""))
    with TestClient(Starlette(routes=routes(list)), base_url="http://127.0.0.1") as client:
        yield lambda name, **asked: client.get(f"/api/trace/{held.id}/{name}", params=asked)


def test_shares_keys_and_means_of_every_kind_of_attention(shown: View, get: Get) -> None:
    for place, site in enumerate(shown.sites):
        rows, keys = range(2, 7), range(1, 9)
        parts = {"rows": "2-7", "columns": "1-9"}
        told = get("hidden", site=place, head=1, least="0.05", top=2, **parts).json()
        expected = hidden(shown, site, 1, rows, keys, least=0.05, top=2)
        assert told == {"share": pytest.approx(expected.share, rel=1e-5), "rows": 5, "total": 5}
        told = get("strongest", site=place, head="mean", top=3, **parts).json()
        found = strongest(shown, site, "mean", rows, keys, 3)
        assert told == {"first": 2, "keys": found.tolist()}
