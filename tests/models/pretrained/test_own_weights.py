"""Models whose layers compute their weights: exact, padded, and looked at but not changed."""

from copy import deepcopy
from functools import cache
from typing import Any

import pytest
import torch

import headscope as hs
from benchmarks.coverage.__main__ import running
from benchmarks.coverage.inputs import Inputs, padded
from benchmarks.coverage.tiny import classes_of
from models.attention.given import ALONE
from models.free_memory import GIB
from models.pretrained import own_weights

EXACT = 5e-6  # another memory layout of the keys rounds otherwise
TEXTS = (
    "mpnet",
    "deberta",
    "deberta-v2",
    "gptj",
    "gpt_neo",
    "codegen",
    "falcon",
    "bloom",
    "blip",
    "layoutlmv3",
)

CASES = [(name, side) for name in TEXTS for side in ("whole", "right", "left")]
CASES += [("wavlm", "whole"), ("wavlm", "right"), ("timesformer", "whole")]


@cache
def tiny(name: str) -> tuple[Any, Inputs]:
    return running(name, next(iter(classes_of(name))))


def maps_of(out: Any) -> list[torch.Tensor]:
    """What `output_attentions` returned, of all towers."""
    towers = [out, *(each for each in out.values() if hasattr(each, "items"))]
    return [each for tower in towers for each in tower.get("attentions") or ()]


@cache
def eager(name: str) -> Any:
    """The same weights in the library's own eager attention, built as such."""
    network, _ = tiny(name)
    made = type(network)._from_config(deepcopy(network.config), attn_implementation="eager")
    made.load_state_dict(network.state_dict())
    return made.eval()


@pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask")  # WavLM's own
@pytest.mark.parametrize(("name", "side"), CASES)
def test_weights_are_those_of_output_attentions(name: str, side: str) -> None:
    network, whole = tiny(name)
    given = whole if side == "whole" else padded(whole, left=side == "left")
    assert given is not None
    t = hs.trace(network, given)
    with torch.no_grad():
        theirs = maps_of(eager(name)(**given, output_attentions=True))
    for site, pattern in zip(t.sites, t.patterns, strict=True):
        mine, shape = pattern.weights(), (pattern.batch, pattern.heads, site.queries)
        found = next((each for each in theirs if each.shape[:3] == shape), None)
        if found is None:  # TimeSformer returns those over the picture, not those over time
            assert "temporal" in str(site.module)
            continue
        theirs = [each for each in theirs if each is not found]
        if name == "wavlm":  # which returns the mean of its heads as each of them
            assert not torch.allclose(mine[:, 0], mine[:, 1], atol=0.01)
            mine, found = mine.mean(1), found[:, 0]
        for item in range(pattern.batch):
            rows, _ = t.positions(site, item)
            assert (mine[item][..., rows, :] - found[item][..., rows, :]).abs().max() < EXACT
            assert (t.weights(site, item=item).sum(-1) - 1).abs().max() < EXACT
    assert not theirs


@pytest.mark.parametrize("name", ["gptj", "falcon", "bloom"])
def test_decoders_are_causal_and_have_a_lens(name: str) -> None:
    network, whole = running(name, "causal")
    given = padded(whole, left=True)
    assert given is not None
    t = hs.trace(network, given, hidden=True)
    assert {site.kind for site in t.sites} == {"causal"}
    with torch.no_grad():
        expected = network(**given).logits[0][t.positions(t.sites[0])[0]]
    last = hs.logit_lens(t, len(t.sites))
    assert (last - expected).abs().max() < 1e-3
    assert not t.visible(t.sites[0], torch.tensor([0]))[0, 0, 1:].any()


def test_cross_attention_has_two_sides() -> None:
    network, given = running("blip", "image text")
    t = hs.trace(network, given)
    cross = next(site for site in t.sites if site.kind == "cross")
    assert (cross.queries, cross.keys) == (len(t.query_labels(cross)), len(t.key_labels(cross)))
    assert cross.queries != cross.keys


def test_what_is_not_there_is_said_in_a_line() -> None:
    network, given = tiny("mpnet")
    before = network.config._attn_implementation
    t = hs.trace(network, given, hidden=True)
    look = "MPNet.* computes its own weights: they can be looked at, not changed"
    assert any("they take 0.0 MiB" in note for note in t.notes)
    for edits in (hs.Ablate(0, 1), [hs.Cut(0, None, 2, 1)], hs.Temperature(0.5, layer=1)):
        with pytest.raises(ValueError, match=look):
            hs.trace(network, given, edits=edits)
    assert not hs.trace(network, given, edits=hs.AblateMLP(0)).output.values.equal(t.output.values)
    with pytest.raises(ValueError, match=ALONE):
        t.scores(0)
    with pytest.raises(ValueError, match=r"gradient: .* computes its own weights"):
        hs.trace(network, given, gradient=lambda out: out.values.sum())
    assert hs.verify(network, given).problems(1e-4) == ()
    assert network.config._attn_implementation is before


def test_weights_that_do_not_fit_are_refused_before_the_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_weights, "available_memory", lambda: GIB // 2**20)
    network, given = tiny("mpnet")
    with pytest.raises(ValueError, match="computes its own weights: those of 11 tokens would take"):
        hs.trace(network, given)
