"""Figures and numbers of the forms beside matrix and lines, and of filtered maps, read back."""

import io
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.rollout import rollout
from models.decoder import DecoderConfig
from models.edits import SetWeights
from models.encoder import EncoderConfig
from models.run import Model, Trace, load, trace
from tests.viz import svg_files
from viz.export import export
from viz.views import FORM

HOSTILE = 'so <img src=x onerror="alert(1)"> & שלום 😀 ]]>'
SVG = "{http://www.w3.org/2000/svg}"
LAYER, HEAD, QUERY, KEY = 1, 2, 3, 5
PLACE: dict[str, Any] = {"layer": LAYER, "head": HEAD}
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-6}


@cache
def network() -> Model:
    return load(EncoderConfig(vocab=101, dim=21, depth=2, heads=3, mlp=13, seed=5))


@cache
def traced() -> Trace:
    return trace(network(), HOSTILE, hidden=True)


@cache
def predicting() -> tuple[Trace, dict[str, Any]]:
    """A trace with logits of tokens, and the run that it is of."""
    model = load(DecoderConfig(vocab=101, dim=21, depth=2, heads=3, mlp=13, seed=5))
    return trace(model, HOSTILE, hidden=True), {"run": (model, HOSTILE)}


def made(folder: Path, suffix: str, view: str, **more: Any) -> bytes:
    given: dict[str, Any] = {"view": view} | more
    if view != "numbers":
        given |= {"layer": LAYER, "head": HEAD}
    shown, run = predicting() if FORM[view].runs else (traced(), {})
    return export(shown, folder / f"file{suffix}", **given, **run).read_bytes()


# ---- numbers


def test_the_token_on_which_a_map_rests_is_left_out_on_request(tmp_path: Path) -> None:
    """All weight on token 0 in both layers, half of each layer the residual: 0.75 of every row."""
    t = trace(network(), HOSTILE, edits=[SetWeights(None, None, None, 0, 1.0)])
    whole = rollout(t).numpy()
    assert whole[1:, 0] == pytest.approx(0.75)

    def written(suffix: str, **more: Any) -> bytes:
        file = tmp_path / f"file{suffix}"
        return export(t, file, view="model", **PLACE, **more).read_bytes()

    for sinks, expected in (("shown", whole), ("hidden", whole * (np.arange(len(whole)) > 0))):
        found = np.load(io.BytesIO(written(".npz", sinks=sinks)))["rollout"]
        np.testing.assert_allclose(found, expected, **CLOSE)
    share = f"{100 * whole[:, 0].mean():.3g} % of a row went there"
    assert share in " ".join(written(".svg", sinks="hidden").decode().split())
    plain = export(traced(), tmp_path / "even.svg", view="model", sinks="hidden", **PLACE)
    assert "is hidden" not in plain.read_text()


# ---- figures


@pytest.mark.parametrize("form", ["matrix", "lines", "text", "model"])
def test_words_may_stand_in_the_metadata_alone(tmp_path: Path, form: str) -> None:
    svg = {words: made(tmp_path, ".svg", form, words=words) for words in (True, False)}
    high = {}
    for words, file in svg.items():
        root = ElementTree.fromstring(file)
        assert traced().model in (root.findtext(f"{SVG}title") or "")
        assert "Input: “so <img" in svg_files.about(file)
        high[words] = float(root.attrib["viewBox"].split()[3])
    written = svg_files.texts(svg[False])
    assert not [text for text in written if traced().model in text or "Headscope" in text]
    assert high[False] < high[True]
