"""Rollout, flow and fused maps against closed forms, plain loops and networkx."""

import networkx as nx
import pytest
import torch

from analysis.flow import flow, maximum_flows
from analysis.rollout import rollout
from analysis.stack import combined, cross_attention, fused, self_attention, with_residual
from models.attention import Dot, Pattern
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.trace import Site, Trace
from tests.analysis import by_hand

TOKENS, HEADS, LAYERS = 7, 3, 4


def trace_of(layers):
    """A trace whose weights are those given, `layer head query key`; zeros must not occur."""
    patterns = []
    for weights in layers:
        zeros = torch.zeros(1, *weights.shape[:2], 1)
        score = {"score": Dot(scale=1.0), "bias": weights.log()[None]}
        patterns.append(Pattern(zeros, zeros, zeros, **score))
    return by_hand.trace_of(*patterns)


def draw(layers=LAYERS, heads=HEADS, count=TOKENS, sharp=2.0, seed=5):
    dice = torch.Generator().manual_seed(seed)
    return torch.softmax(sharp * torch.randn(layers, heads, count, count, generator=dice), -1)


@pytest.mark.parametrize("fusion", ["mean", "max", "min"])
def test_rollout_is_the_product_by_loops(fusion):
    weights = draw()
    expected = torch.eye(TOKENS).double()
    for layer in weights.double():
        whole = torch.zeros(TOKENS, TOKENS).double()
        for i in range(TOKENS):
            for j in range(TOKENS):
                cells = [float(layer[head, i, j]) for head in range(HEADS)]
                fuse = {"mean": sum(cells) / HEADS, "max": max(cells), "min": min(cells)}
                whole[i, j] = fuse[fusion] + (i == j)
        expected = torch.stack([row / row.sum() for row in whole]) @ expected
    found = rollout(trace_of(weights), fusion=fusion)
    torch.testing.assert_close(found, expected.float())
    torch.testing.assert_close(found.sum(-1), torch.ones(TOKENS))


def test_discarding_keeps_rows_summing_to_one():
    weights = draw(layers=2)
    mean = weights[0].mean(0)
    cut = with_residual(mean, 0.6)
    dropped = sorted(mean.flatten().tolist())[: int(0.6 * TOKENS**2)]
    kept = mean * (mean > dropped[-1])
    expected = kept + torch.eye(TOKENS)
    torch.testing.assert_close(cut, expected / expected.sum(-1, keepdim=True))
    found = rollout(trace_of(weights), discard=0.6)
    torch.testing.assert_close(found.sum(-1), torch.ones(TOKENS))


def slow_flow(layers, query, key):
    graph = nx.DiGraph()
    for depth, layer in enumerate(layers):
        for i, row in enumerate(layer.tolist()):
            for j, capacity in enumerate(row):
                graph.add_edge((depth + 1, i), (depth, j), capacity=capacity)
    return nx.maximum_flow_value(graph, (len(layers), query), (0, key))


@pytest.mark.parametrize("fusion", ["mean", "max"])
def test_flow_is_that_of_networkx(fusion):
    t = trace_of(draw(layers=3, sharp=3.0))
    layers = [with_residual(fused(t, site, fusion)) for site in t.sites]
    calls = []
    found = flow(t, 2, fusion=fusion, progress=lambda *done: calls.append(done))
    for key in range(TOKENS):
        assert float(found[key]) == pytest.approx(slow_flow(layers, 2, key), abs=1e-6)
    assert calls == [(done, TOKENS) for done in range(TOKENS + 1)]
    torch.testing.assert_close(flow(t, 2, fusion=fusion, keys=[5, 1]), found[[5, 1]])


def test_a_flow_below_its_bound_is_that_of_networkx():
    """Neither what leaves the query nor the column of the first layer decides it."""
    t = trace_of(draw(layers=4, heads=1, sharp=5.0, count=11))
    layers = [with_residual(fused(t, site)) for site in t.sites]
    flows = maximum_flows(layers, 3, range(11))
    below = layers[0].sum(0).clamp(max=1) - flows > 1e-3
    assert below.any()
    assert not below.all()
    key = int(below.nonzero()[0])
    assert float(flows[key]) == pytest.approx(slow_flow(layers, 3, key), abs=1e-6)


IDS = torch.randint(3, 31, (1, 11), generator=torch.Generator().manual_seed(2))
SEQ2SEQ = Seq2SeqConfig(
    source_vocab=31, target_vocab=31, dim=20, heads=2, d_k=10, d_v=10, depth=2, mlp=13
)


def test_towers_of_an_encoder_decoder_are_chosen():
    t = trace(load(SEQ2SEQ), IDS, IDS[:, :5])
    encoder, decoder = rollout(t, tower="encoder"), rollout(t, tower="decoder")
    assert encoder.shape == (11, 11)
    count = len(t.query_labels(t.site(0, "causal")))
    assert decoder.shape == (count, count)
    assert torch.equal(decoder, decoder.tril())
    crossed = torch.stack([t.weights(layer, kind="cross").mean(0) for layer in range(2)])
    torch.testing.assert_close(combined(t, kind="cross"), crossed.mean(0))
    with pytest.raises(ValueError, match="tower: expected one of"):
        rollout(t)
    assert len(cross_attention(t)) == 2


def test_networks_without_one_stack_say_why():
    layers = draw(layers=2)
    t = trace_of(layers)
    gap = Trace(**{**vars(t), "sites": (t.sites[0], Site(3, "self", HEADS, TOKENS, TOKENS))})
    with pytest.raises(ValueError, match="layers 1, 2 mix tokens by other means"):
        rollout(gap)
    with pytest.raises(ValueError, match="no attention to an encoder"):
        combined(t, kind="cross")
    with pytest.raises(ValueError, match="query: expected 0 to 6, received 7"):
        flow(t, 7)
    with pytest.raises(ValueError, match="discard"):
        rollout(t, discard=1.0)
    assert len(self_attention(t)) == 2
