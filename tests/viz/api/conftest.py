"""Fixtures of several modules."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.viz.api.pictured import entry_of, networks_in
from viz.api.entries import TraceEntry
from viz.api.samples import PHOTOS
from viz.routes import routes


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """The API, asked as the app's own pages ask it."""
    app = Starlette(routes=routes())
    with TestClient(app, base_url="http://127.0.0.1:8501") as client:
        yield client


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TraceEntry]:
    """A photo as small networks of several kinds have read it, by their names."""
    places: dict[str, Path] = networks_in(tmp_path_factory.mktemp("over"))
    return {name: entry_of(place, PHOTOS["flower"]) for name, place in places.items()}
