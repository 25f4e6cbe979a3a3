"""Streams of library networks, component by component: names, and sums against their states."""

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.attention import Pattern
from models.inputs.sequences import named_tokens
from models.pretrained.attention_modules import AttentionModule
from models.pretrained.linear_maps import HeadMap, Linear
from models.pretrained.observation import ModuleCall
from models.pretrained.recording import Call, Entry
from models.pretrained.site_maps import SiteMaps
from models.pretrained.stream import _added, _layer
from models.run import trace
from models.stream import (
    BIASES,
    POSITIONS,
    SEGMENTS,
    TOKENS,
    Normed,
    Stream,
    Write,
    total,
)
from models.trace import TokenAxis, Trace
from tests.models.pretrained.tiny import BY_NAME, ids, normal

CLOSE = 1e-4  # of float32 states through two layers


@cache
def traced(name: str) -> Trace:
    given = {"input_ids": ids(2, 7)}
    if name in ("T5", "BART"):
        given["decoder_input_ids"] = ids(2, 5, seed=4)
    if name == "BERT":
        given["token_type_ids"] = torch.tensor([[0, 0, 0, 1, 1, 1, 1]] * 2)
    return trace(BY_NAME[name].build(), given, hidden=True)


def block(number: int, *more: str, heads: int = 3) -> set[str]:
    words = [*(f"head {head}" for head in range(heads)), *more]
    return {f"layer {number}, {word}" for word in words}


EMBEDDED = {TOKENS, POSITIONS}
# Architecture, kind of the site; what writes to the stream before layer 1 reads it, and the norms
STREAMS: dict[tuple[str, str], tuple[set[str], int]] = {
    ("BERT", "self"): ({*EMBEDDED, SEGMENTS, BIASES, *block(0, "MLP")}, 3),
    ("GPT-2", "causal"): ({*EMBEDDED, BIASES, *block(0, "MLP")}, 0),
    ("GPT-NeoX", "causal"): ({TOKENS, BIASES, *block(0, "MLP")}, 0),
    ("Llama", "causal"): ({TOKENS, *block(0, "MLP", heads=6)}, 0),
    ("BART", "causal"): (
        {
            *(TOKENS, POSITIONS, BIASES),
            *block(0, *(f"cross head {head}" for head in range(5)), "MLP", heads=5),
        },
        4,  # of the embedding and of three sums
    ),
    ("T5", "self"): ({TOKENS, *block(0, "MLP", heads=5)}, 0),
    ("T5", "causal"): (
        {TOKENS, *block(0, *(f"cross head {head}" for head in range(5)), "MLP", heads=5)},
        0,
    ),
}


def states(found: Trace, kind: str, name: str) -> Tensor:
    """What the blocks before layer 1 left, of item 1."""
    tower = {"self": "encoder", "causal": "decoder"}[kind] if name in ("T5", "BART") else None
    return found.hidden(1, 1, tower=tower)


@pytest.mark.parametrize(("name", "kind"), STREAMS)
def test_what_writes_to_a_stream(name: str, kind: str) -> None:
    found, (names, norms) = traced(name), STREAMS[name, kind]
    places = [0, 3, 4]
    stream: Stream = found.stream(found.site(1, kind), places, item=1)
    parts = stream.parts()
    assert set(parts) - {BIASES} == names - {BIASES}
    assert sum(isinstance(step, Normed) for step in stream.steps) == norms
    expected = states(found, kind, name)[places]
    assert (stream.state - expected).abs().max() < CLOSE
    whole = torch.stack(list(parts.values())).sum(0)
    assert (whole - expected).abs().max() < CLOSE


def test_what_the_first_layer_reads() -> None:
    """The sum of the embeddings, normed in BERT; the last of the tokens alone."""
    for name, kind, norms in (("BERT", "self", 1), ("GPT-2", "causal", 0)):
        found = traced(name)
        stream = found.stream(found.site(0, kind), [6], item=1)
        parts = stream.parts()
        assert {TOKENS, POSITIONS} <= set(parts) <= {TOKENS, POSITIONS, SEGMENTS, BIASES}
        assert sum(isinstance(step, Normed) for step in stream.steps) == norms
        expected = found.hidden(0, 1)[[6]]
        assert (torch.stack(list(parts.values())).sum(0) - expected).abs().max() < CLOSE


def test_the_words_and_positions_are_the_tables_own() -> None:
    network: Any = BY_NAME["GPT-2"].build()
    found = trace(network, {"input_ids": ids(2, 7)})
    parts = found.stream(1, [2, 5], item=1).parts()
    tables = network.transformer
    assert parts[TOKENS].float().equal(tables.wte.weight[ids(2, 7)[1, [2, 5]]])
    assert parts[POSITIONS].float().equal(tables.wpe.weight[[2, 5]])


def call_and_maps(heads: HeadMap) -> tuple[Call, SiteMaps]:
    """An attention of one head over five tokens."""
    maps = SiteMaps(heads, heads, heads, heads.linear, None, None, None)
    entry = Entry(AttentionModule("a", None, 0), nn.Identity(), "a", 0)
    q = torch.zeros(1, 1, 5, 6)
    tokens = TokenAxis((named_tokens(list("abcde")),))
    return Call(entry, "self", Pattern(q, q, q), (tokens, tokens), q[-1, -1, -1]), maps


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_added_times_afactor_of(beside: bool) -> None:
    """Before a feed-forward network, which reads the sum, or beside one, which reads the stream."""
    x, heads, made = (normal(5, 6, seed=seed) for seed in (7, 8, 9))
    read = x if beside else x + 0.5 * heads
    query = nn.Linear(6, 6).requires_grad_(False)
    call, maps = call_and_maps(HeadMap(Linear(query, False), (0,), 6, x))
    calls = [
        ModuleCall("query", query, x, query(x), 0),
        ModuleCall("mlp", nn.Identity(), read, made, 1),
    ]
    layer = _layer(call, maps, 0, calls, 1)
    found = _added(layer, [Write("head 0", heads)], x + 0.5 * heads + made)
    assert found is not None
    assert (found.read is None) == beside
    assert (total(found.writes) - 0.5 * heads).abs().max() < 1e-6
