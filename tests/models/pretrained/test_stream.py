"""Streams of library networks, component by component: names, and sums against their states."""

from functools import cache, partial
from typing import Any

import pytest
import torch
from torch import Tensor

from models.run import trace
from models.stream import (
    BIASES,
    POSITIONS,
    SEGMENTS,
    TOKENS,
    Normed,
    Stream,
)
from models.trace import Trace
from tests.models.architectures import GROUPED
from tests.models.pretrained.tiny import BY_NAME, build, ids

FACTORS = {"residual_multiplier": 0.5, "embedding_multiplier": 3.0}
GRANITE = partial(build, "GraniteForCausalLM", "GraniteConfig", {**GROUPED, **FACTORS})
CLOSE = 1e-4  # of float32 states through two layers


@cache
def traced(name: str) -> Trace:
    given = {"input_ids": ids(2, 7)}
    if name in ("T5", "BART"):
        given["decoder_input_ids"] = ids(2, 5, seed=4)
    if name == "BERT":
        given["token_type_ids"] = torch.tensor([[0, 0, 0, 1, 1, 1, 1]] * 2)
    network = GRANITE() if name == "Granite" else BY_NAME[name].build()
    return trace(network, given, hidden=True)


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
    ("Granite", "causal"): ({TOKENS, *block(0, "MLP", heads=6)}, 0),
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
