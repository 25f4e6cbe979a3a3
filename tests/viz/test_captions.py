"""What a caption claims of a figure, against the numbers of the same export.

Random networks, texts and filters, for every form that filters act on.
"""

import random
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.rollout import rollout
from analysis.view import JOINT, View
from models.run import Trace
from tests.viz.random_traces import random_traces
from viz.export import export

SVG = "{http://www.w3.org/2000/svg}"
DRAWS = 8  # of each form
EXACT: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-6}
TRACES = [t for _, _, _, t in random_traces(3)]


def filters_of(dice: random.Random, form: str, site: Any) -> dict[str, Any]:
    """Some filters, at random."""
    found: dict[str, Any] = {}
    if dice.random() < 0.4 and form != "lines":
        found["values"] = "scores"
    if dice.random() < 0.6 and not found:
        found["least"] = dice.choice([0.05, 0.1, 0.2])
    if dice.random() < 0.4:
        found["sinks"] = dice.choice(["hidden", "renormalised"])
    if dice.random() < 0.4:
        found["top"] = dice.randint(1, 3)
    if dice.random() < 0.3:
        found["columns"] = range(1, site.keys - 1)
    if dice.random() < 0.5 and "values" not in found:
        found["scale"] = "own"
    if form == "text":
        found["token"] = dice.randrange(site.queries)
    return found


def cases(form: str) -> list[tuple[Trace, Any, dict[str, Any]]]:
    dice = random.Random(form)
    found = []
    for n in range(DRAWS):
        t = TRACES[n % 3]
        site = dice.choice(t.sites)
        found.append((t, site, filters_of(dice, form, site)))
    return found


def written(file: Path) -> tuple[str, list[str]]:
    """The caption of a figure, and what stands in it."""
    root = ElementTree.parse(file).getroot()
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    return " ".join((root.findtext(f"{SVG}desc") or "").split()), texts


def arrays(file: Path) -> dict[str, Any]:
    with np.load(file) as held:
        return dict(held)


@pytest.mark.parametrize("form", ["matrix", "lines", "text"])
def test_a_caption_is_true_of_the_numbers(tmp_path: Path, form: str) -> None:
    for t, site, asked in cases(form):
        where = {"layer": site.layer, "kind": site.kind, "tower": site.tower, "head": 1}
        said, texts = written(export(t, tmp_path / "file.svg", view=form, **where, **asked))
        held = arrays(export(t, tmp_path / "file.npz", view=form, **where, **asked))
        scores = "values" in asked
        assert ("Numbers are scores before the softmax." in said) == scores
        name = ("score" if scores else "weight") + ("" if form == "text" else "s")
        drawn = held[name][0]
        columns = asked.get("columns", range(site.keys))
        given = (t.scores if scores else t.weights)(site, 1).numpy(force=True)
        sinks = [i for i, special in enumerate(t.keys(site)[0].special) if special or i == 0]
        hidden = "sinks" in asked
        plain = t.weights(site, 1).numpy(force=True)
        if asked.get("sinks") == "renormalised" and not scores:
            left = 1 - plain[:, sinks].sum(1, keepdims=True)
            given = given / np.where(left > 0, left, 1)
        if form == "text":
            given, plain = given[asked["token"]], plain[asked["token"]]
        shown = np.isfinite(drawn)
        expected = given[..., columns.start : columns.stop]
        np.testing.assert_allclose(drawn[shown], expected[shown], **EXACT)

        out = np.isin(np.arange(columns.start, columns.stop), sinks if hidden else [])
        allowed = np.broadcast_to(~out, expected.shape)
        claim = re.search(r"Weights below ([\d.]+) are not drawn", said)
        assert bool(claim) == ("least" in asked and not scores)
        kept = allowed & (expected >= float(claim[1])) if claim else allowed
        strongest = asked.get("top", 0)
        sentences = {
            "matrix": f"The {strongest} strongest keys of each row are outlined.",
            "lines": f"Of each row the {strongest} strongest keys are drawn.",
            "text": f"The {strongest} strongest are outlined.",
        }
        assert (sentences[form] in said) == bool(strongest)
        if form == "lines" and strongest:
            assert (shown.sum(1) <= strongest).all()
            assert not (shown & ~kept).any()
        elif not scores:
            np.testing.assert_array_equal(shown, kept)
        else:  # masked scores are −∞, which is drawn, in grey
            np.testing.assert_array_equal(~np.isnan(drawn), kept)
        assert ("Not all rows and columns are drawn" in said) == ("columns" in asked)
        share = re.search(r"([\d.]+) % of (the weight|this row) went there", said)
        assert bool(share) == hidden
        if share:
            number = 100 * plain[..., sinks].sum(-1).mean()
            assert float(share[1]) == pytest.approx(number, rel=0.01, abs=0.01)
        own = any("up to the largest shown" in text for text in texts)
        largest = float(np.nan_to_num(drawn, neginf=0).max())
        if form != "lines":  # which have no bar
            assert own == ("scale" in asked and 0 < largest < 1)
            assert f"{largest:.3g}" in texts or not own


def test_an_atlas_claims_no_filter_and_forms_of_the_model_no_head(tmp_path: Path) -> None:
    for t in TRACES:
        view = View(t, special="hidden")
        for shown in (t, view):
            said, _ = written(export(shown, tmp_path / "file.svg", view="atlas"))
            assert "not drawn" not in said
            assert "scores" not in said
            assert ("lack their weight" in said) == (shown is view)
            sums = {
                bool((shown.weights(site).sum(-1) > 1 - 1e-5).all())
                for site in shown.sites
                if site.kind != JOINT
            }
            assert sums == {True} or shown is view or t.empty_rows()
        file = export(t, tmp_path / "file.svg", view="model", method="max")
        said, texts = written(file)
        assert "the largest weight that any head of any layer gives" in said
        assert any("all layers together" in text for text in texts)
        held = arrays(export(t, tmp_path / "file.npz", view="model", method="max"))["max"]
        first = t.sites[0]
        alike = [s for s in t.sites if (s.kind, s.tower) == (first.kind, first.tower)]
        largest = np.max([t.weights(site).amax(0).numpy() for site in alike], axis=0)
        np.testing.assert_allclose(held, largest, **EXACT)
        rows = arrays(export(t, tmp_path / "file.npz", view="model"))["rollout"]
        np.testing.assert_allclose(rows, rollout(t, tower=first.tower).numpy(), **EXACT)
