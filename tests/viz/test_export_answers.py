"""Files of the pictures beside a text, each read back and compared with the analyses."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import grounding
from models.inputs.prompt import Prompt
from models.run import Model, load, trace
from models.trace import Site, Trace
from tests.models.vision_language import BY_NAME, photo
from viz.export import export

TYPED = "a dog sits"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-7}
AREA = "0.100.200.600.700"
Asked = Callable[..., tuple[Model, Prompt, Trace, Site]]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    known: dict[str, Any] = {}

    def ask(name: str = "LLaVA") -> tuple[Model, Prompt, Trace, Site]:
        if name not in known:
            model = load(BY_NAME[name].save(tmp_path_factory.mktemp("family")))
            prompt = Prompt("what is it", (photo(), photo(seed=1)))
            t = trace(model, prompt, TYPED)
            words = grounding.sites_of_words(t)
            site = next((site for site in words if t.key_pictures(site)), words[0])
            known[name] = model, prompt, t, site
        return known[name]

    return ask


def made(folder: Path, suffix: str, of: tuple[Model, Prompt, Trace, Site], **more: Any) -> bytes:
    model, prompt, t, site = of
    given: dict[str, Any] = {"layer": site, "head": 1, "run": (model, prompt, TYPED)} | more
    return export(t, folder / f"file{suffix}", view="pictures", **given).read_bytes()


def row_of(t: Trace, word: int) -> int:
    """The row that writes a word of the answer."""
    (row,) = grounding.rows_of(t, [word])
    return row


def test_tokens_at_rest_are_left_out_on_request(asked: Asked, tmp_path: Path) -> None:
    _, _, t, site = of = asked("Idefics3")
    row, at = row_of(t, 0), [*grounding.sinks(t, site)]
    weights = t.weights(site, 1, rows=[row])[0].clone()
    weights[at] = 0
    found = np.load(io.BytesIO(made(tmp_path, ".npz", of, token=row, sinks="hidden")))
    for number, grid in enumerate(t.key_pictures(site), 1):
        on_it = weights[grid.places].numpy()
        np.testing.assert_allclose(found[f"weight_{number}"][0], on_it, **CLOSE)


def test_mistakes_are_one_line(asked: Asked, tmp_path: Path) -> None:
    _, _, t, site = of = asked()
    vision = next(site for site in t.sites if site.tower == "vision")
    for more, message in (
        ({"token": 999}, "token: expected 0 to "),
        ({"token": row_of(t, 0), "area": "0.5"}, "expected a picture, left, top, right and bottom"),
        ({"layer": vision}, "token: expected the one that looks at the pictures"),
        ({"query": 3}, "query: without effect on 'pictures'"),
        ({"relevant": True, "run": None}, "pass run="),
    ):
        with pytest.raises(ValueError, match=message):
            made(tmp_path, ".svg", of, **more)
    with pytest.raises(ValueError, match="area: without effect on 'matrix'"):
        export(t, tmp_path / "a.svg", layer=site, area=AREA)
    text = trace(load("grammar-next"), "the cat sat")
    with pytest.raises(ValueError, match="layer: expected one that looks at a picture"):
        export(text, tmp_path / "a.svg", view="pictures", layer=text.sites[0], token=1)
