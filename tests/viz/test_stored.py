"""Answers that come with the app: as the weights give them, and none where a file is damaged."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from models.catalogue import entry
from viz import store, stored
from viz.pack import unpack
from viz.pages.explore import opening


def same(a: object, b: object) -> bool:
    """Whether two JSON values are equal but for the rounding of sums on another number of cores."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-3, atol=1e-5))
    return a == b


@pytest.mark.parametrize("model", opening.MODELS)
def test_the_first_picture_is_served_as_its_result_answers(model: str) -> None:
    client = TestClient(Starlette(routes=[stored.route(opening.FILE)]))
    served, live = stored.paths(opening.FILE, model), store.first_answers(model)
    assert [*served] == [*live] == opening.paths(model)
    assert [path.partition("?")[0] for path in served][: opening.FIRST] == ["overview", "row"]
    for path, address in served.items():
        answer, computed = client.get(address), base64.b85decode(live[path]["body"])
        assert answer.headers["content-type"] == live[path]["kind"]
        if answer.headers["content-type"] == "application/json":
            assert same(answer.json(), json.loads(computed)), path
            continue
        (header, area), (live_header, live_area) = unpack(answer.content), unpack(computed)
        assert same(header, live_header), path
        if path.startswith("row"):
            rows = [np.frombuffer(each, "<f4") for each in (area, live_area)]
            assert np.allclose(*rows, rtol=1e-4, atol=1e-6)
        else:  # a byte a cell
            cells = [np.frombuffer(each, np.uint8).astype(int) for each in (area, live_area)]
            assert np.mean(cells[0] != cells[1]) < 0.02, path


def test_the_file_is_of_the_weights_that_are_opened() -> None:
    digests = {name: entry(name).sha256 for name in opening.MODELS}
    assert stored.read(opening.FILE)["models"] == digests


def damaged(text: str) -> list[str]:
    held = json.loads(text)
    (first, *_) = held["answers"]["minilm"].values()
    first["body"] = first["body"][:-5]
    return ["", "[]", "{}", text[:-9], '{"models": 1, "answers": [1]}', json.dumps(held)]


def test_a_missing_or_damaged_file_holds_nothing(tmp_path: Path) -> None:
    assert stored.paths(tmp_path / "missing.json", "minilm") == {}
    for number, text in enumerate(damaged(opening.FILE.read_text(encoding="utf-8"))):
        file = tmp_path / f"{number}.json"
        file.write_text(text, encoding="utf-8")
        assert stored.paths(file, "minilm") == {}
        client = TestClient(Starlette(routes=[stored.route(file)]))
        assert client.get(f"{stored.PATH}/none").status_code == 404


def test_what_is_written_is_read(tmp_path: Path) -> None:
    stored.write(tmp_path / "a.json", "a command", {"m": "1"}, {"f[1]": {"é": [0.5]}})
    assert stored.read(tmp_path / "a.json")["answers"] == {"f[1]": {"é": [0.5]}}
