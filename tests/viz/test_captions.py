"""What a caption claims of a figure, against the numbers of the same export.

Random networks, texts, pictures and filters.
"""

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from models.run import Trace, load, trace
from models.vit import ViTConfig
from tests.models.vocabularies import gpt2
from tests.viz import svg_files
from tests.viz.random_traces import random_traces
from viz.export import export
from viz.views.request import input_of

DRAWS = 8  # of each form
EXACT: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-6}
TRACES = [t for _, _, _, t in random_traces(3)]


def filters_of(dice: random.Random, form: str, site: Any) -> dict[str, Any]:
    """Some filters, at random."""
    found: dict[str, Any] = {}
    if dice.random() < 0.4 and form != "lines":
        found["values"] = "scores"
    if dice.random() < 0.4:
        found["sinks"] = "hidden"
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
    return svg_files.about(file.read_bytes()), svg_files.texts(file.read_bytes())


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
        if form == "text":
            given, plain = given[asked["token"]], plain[asked["token"]]
        shown = np.isfinite(drawn)
        expected = given[..., columns.start : columns.stop]
        np.testing.assert_allclose(drawn[shown], expected[shown], **EXACT)

        out = np.isin(np.arange(columns.start, columns.stop), sinks if hidden else [])
        allowed = np.broadcast_to(~out, expected.shape)
        if not scores:
            np.testing.assert_array_equal(shown, allowed)
        else:  # masked scores are −∞, which is drawn, in grey
            np.testing.assert_array_equal(~np.isnan(drawn), allowed)
        assert ("Not all rows and columns are drawn" in said) == ("columns" in asked)
        share = re.search(r"([\d.]+) % of (the weight|this row) went there", said)
        assert bool(share) == hidden
        if share:
            number = 100 * plain[..., sinks].sum(-1).mean()
            assert float(share[1]) == pytest.approx(number, rel=0.01, abs=0.01)
            if form != "text":
                assert held["hidden_keys"].tolist() == sinks
                np.testing.assert_allclose(held["hidden_share"][0], plain[:, sinks].sum(1), **EXACT)
        own = any("up to the largest shown" in text for text in texts)
        largest = float(np.nan_to_num(drawn, neginf=0).max())
        if form != "lines":  # which have no bar
            assert own == ("scale" in asked and 0 < largest < 1)
            assert f"{largest:.3g}" in texts or not own


def pictures() -> list[Trace]:
    """With a class token, with registers, and without either."""
    sizes: dict[str, Any] = {"image": 20, "patch": 4, "dim": 15, "depth": 2, "heads": 3, "mlp": 7}
    kinds: list[dict[str, Any]] = [{}, {"registers": 2}, {"head": "mean"}]
    pixels = torch.rand(1, 3, 20, 20, generator=torch.Generator().manual_seed(3))
    return [trace(load(ViTConfig(**sizes, **kind, seed=n)), pixels) for n, kind in enumerate(kinds)]


def test_a_caption_of_a_picture_is_true_of_its_numbers(tmp_path: Path) -> None:
    dice = random.Random("image")
    for n, t in enumerate(pictures() * 4):
        site, heads = t.sites[-1], [0, 2] if n % 2 else [1]
        prefix = site.keys - 25
        token, inward = dice.randrange(site.queries), dice.random() < 0.5
        sinks = dice.choice(["shown", "hidden"])
        asked: dict[str, Any] = {
            "scale": dice.choice(["fixed", "own", "layer"]),
            "direction": "in" if inward else "out",
        }
        asked |= {"sinks": sinks, "token": token, "layer": site.layer, "head": heads}
        said, texts = written(export(t, tmp_path / "file.svg", view="image", **asked))
        row, column = divmod(token - prefix, 5)
        name = t.labels[token] if token else "the class token"
        name = f"the patch in row {row}, column {column}" if token >= prefix else name
        lead = "Who attends to" if inward else "Where attention goes from"
        assert f"{lead} {name}: the weight of each patch" in said
        assert "Brighter is more weight." in said
        weights = t.weights(site).numpy(force=True)
        hidden = range(prefix) if sinks != "shown" else range(0)
        shares = weights[:, :, list(hidden)].sum(-1)
        shares = shares.mean(1) if inward else shares[:, token]
        claims = re.findall(r"([\d.]+) %(?: \(head \d\))?", said.split(" hidden: ")[-1])
        if not hidden:
            assert ("no sinks to hide" in said) == (sinks != "shown")
        else:
            found = [float(claim) for claim in claims[: len(heads)]]
            assert found == pytest.approx((100 * shares[heads]).tolist(), rel=0.01)
        shown = (weights[..., token] if inward else weights[:, token])[:, prefix:]
        even = [head for head in heads if shown[head].max() < 1.25 * shown[head].mean()]
        named = ", ".join(f"head {head}" for head in even)
        assert (f"Nearly uniform, so faint: {named}." in said) == bool(even)
        if asked["scale"] != "own" or len(heads) == 1:
            tops = {"fixed": 1.0, "own": shown[heads[0]].max()}
            assert f"{tops.get(asked['scale'], shown.max()):.3g}" in texts


@pytest.mark.parametrize("kind", ["GPT2", "Bert"])
@pytest.mark.parametrize("text", ["Zażółć gęślą 😀  日本", "a e\u0301\u0323 — ½ שלום"])
def test_the_input_is_quoted_as_it_was_written(kind: str, text: str) -> None:
    """Of a byte-level tokenizer, and of one that drops accents and blanks."""
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=30522, hidden_size=8, num_hidden_layers=1, num_attention_heads=2
    )
    network = getattr(transformers, f"{kind}Model")(config)
    reader = load("minilm").tokenizer if kind == "Bert" else gpt2()
    assert input_of(trace(load(network, tokenizer=reader), text)) == f"“{text}”"
