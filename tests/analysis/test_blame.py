"""Blame: paths against all chains, checks against passes.

Effects of edges, with and without an edit, are in tests/test_edits_everywhere.py.
"""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.blame import Edge, Span, best_path, blame, spans_of, strongest
from models.edits import Cut
from models.run import load, trace
from models.ssru import TranslatorConfig
from models.trace import Site
from tests.models import tiny_models

IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])


# GPT-OSS has a sink in each row
@pytest.mark.parametrize("name", ["decoder", "BERT with a head", "Llama", "GPT-2", "GPT-OSS"])
def test_the_check_is_made_of_passes_with_these_edges_cut(name: str) -> None:
    model = tiny_models.model(name)
    seen: list[tuple[int, int]] = []
    found = blame(model, IDS, target=7, count=5, controls=4, progress=lambda *n: seen.append(n))
    assert seen == [(done, 5) for done in range(6)]
    assert (found.target.id, len(found.edges), len(found.controls)) == (7, 5, 4)
    assert all(edge.effect < 0 for edge in found.edges)
    effects = [edge.effect for edge in found.edges]
    assert effects == sorted(effects)
    place: Any = found.target.position
    clean = trace(model, IDS)
    assert found.before == pytest.approx(float(clean.output.values[0, place].softmax(-1)[7]))
    cuts = [Cut(edge.layer, edge.head, edge.query, edge.key) for edge in found.edges]
    cut = trace(model, IDS, edits=cuts)
    assert found.after == pytest.approx(float(cut.output.values[0, place].softmax(-1)[7]), abs=1e-6)
    for edge in found.edges:
        assert float(cut.weights(edge.layer, edge.head)[edge.query, edge.key]) == 0
    again = blame(model, IDS, target=7, count=5, controls=4)
    assert again.controls == found.controls
    assert blame(model, IDS, target=7, count=5, controls=4, seed=1).controls != found.controls
    expected = torch.zeros(6)
    t = trace(model, IDS, gradient=lambda o: o.values[0, place].float().log_softmax(-1)[7])
    for site in clean.sites:
        expected += (t.weights(site) * t.gradient(site)).sum((0, 1))
    torch.testing.assert_close(found.tokens, expected)


def test_what_an_induction_head_reads_is_what_the_next_token_rests_on() -> None:
    """The shipped induction model, after [BEGIN] q 7 d k m q 7: the d behind the earlier 7."""
    model = load("induction")
    found = blame(model, "q 7 d k m q 7", count=4, controls=20)
    assert found.before > 0.95
    assert found.after < 0.1
    assert sum(each > found.after for each in found.controls) >= 0.8 * len(found.controls)
    assert [(edge.layer, edge.query, edge.key) for edge in found.path] == [(1, 7, 3), (0, 3, 2)]
    assert found.path[0] == found.edges[0]
    assert [(span.start, span.stop) for span in found.spans] == [(3, 4)]


def all_chains(maps: list[Tensor], token: int) -> float:
    """The largest sum over every chain, by trying them all."""
    if not maps:
        return 0.0
    *earlier, last = maps
    sums = [all_chains(earlier, token)]
    heads, _, keys = last.shape
    for head, key in itertools.product(range(heads), range(keys)):
        gain = -float(last[head, token, key])
        if gain > 0:
            sums.append(gain + all_chains(earlier, key))
    return max(sums)


@pytest.mark.parametrize("seed", range(5))
def test_the_path_is_the_best_of_all_chains(seed: int) -> None:
    dice = torch.Generator().manual_seed(seed)
    maps = [torch.randn(2, 4, 4, generator=dice).tril() for _ in range(3)]
    sites = [Site(layer, "causal", 2, 4, 4) for layer in range(3)]
    path = best_path(maps, sites, 3)
    total = -sum(edge.effect for edge in path)
    assert total == pytest.approx(all_chains(maps, 3), rel=1e-5)
    place = 3
    for edge in path:
        assert edge.query == place
        assert float(maps[edge.layer][edge.head, edge.query, edge.key]) == edge.effect
        place = edge.key
    layers = [edge.layer for edge in path]
    assert layers == sorted(layers, reverse=True)
    best = strongest(maps, sites, 3)
    cells = sorted(float(x) for each in maps for x in each.flatten())[:3]
    assert [edge.effect for edge in best] == cells
    assert all(isinstance(edge, Edge) for edge in best)


def test_spans_by_hand() -> None:
    found = spans_of(torch.tensor([0.1, 4.0, 3.0, -5.0, 0.1, 2.8]))
    assert [(span.start, span.stop) for span in found] == [(1, 3), (5, 6)]
    assert found[0].share == pytest.approx(0.7)
    assert found[1].share == pytest.approx(0.28)
    assert spans_of(torch.tensor([1.0, 1.0])) == (Span(0, 2, 1.0),)
    assert spans_of(torch.tensor([-1.0, 0.0])) == ()


def test_what_has_no_single_path_is_refused() -> None:
    translator = load(TranslatorConfig(vocab=11, dim=12, heads=2, depth=1, decoder_depth=1, mlp=7))
    for model in (tiny_models.model("encoder–decoder"), translator):
        with pytest.raises(ValueError, match="expected a model with one stack"):
            blame(model, IDS, target=7)
    with pytest.raises(ValueError, match="target"):
        blame(tiny_models.model("encoder"), "a text", target="another")
    with pytest.raises(ValueError, match="count: expected 1"):
        blame(tiny_models.model("decoder"), IDS, count=0)
