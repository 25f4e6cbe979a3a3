"""Output gates of gated attention, set: against the layer's plain loop without its gate."""

from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.norms import value_norms
from models.edits import SetGate
from models.edits.text import format_edits, parse_edits
from models.run import load, trace
from tests.analysis.test_gated_attention import (
    DIM,
    EVERY,
    HEADS,
    ROUNDING,
    TOKENS,
    layer,
    near,
    network,
    traced,
)
from tests.models.edits.architectures import model
from tests.models.edits.plain import network as ours
from tests.models.pretrained.tiny import eager, ids

VALUES = pytest.mark.parametrize("value", [0, 1, 0.25, "mean"])


def gate_of(own: Any, head: int, query: int, value: Any) -> Tensor:
    if value != "mean":
        return torch.tensor(float(value))
    return torch.stack([own.gate(head, each) for each in range(TOKENS)]).mean(0)


@EVERY
@VALUES
def test_a_gate_that_is_set(family: str, value: Any) -> None:
    """What the layer adds is the loop over its matrices, with this gate in one head."""
    own = layer(family)
    edited = trace(load(network(family)), ids(1, TOKENS), hidden=True, edits=[SetGate(1, 2, value)])
    matrix = own.output[:, 2 * DIM : 3 * DIM]
    norms = torch.stack(
        [
            torch.stack(
                [
                    (
                        own.weights[2, i, j]
                        * matrix
                        @ (own.value(2, j) * gate_of(own, 2, i, value))
                    ).norm()
                    for j in range(TOKENS)
                ]
            )
            for i in range(TOKENS)
        ]
    )
    found = value_norms(edited, 1)
    assert (found[2] - norms).abs().max() <= ROUNDING * value_norms(traced(family), 1).max()
    others = [0, 1, 3]
    assert near(found[others], value_norms(traced(family), 1)[others])
    gates = edited.gates(edited.sites[1])
    assert gates is not None
    expected = torch.stack(
        [gate_of(own, 2, i, value).expand(gates.shape[-1]) for i in range(TOKENS)]
    )
    assert near(gates[2], expected)
    assert edited.pattern(1).path == traced(family).pattern(1).path


@EVERY
def test_a_closed_gate_is_a_head_without_its_output(family: str) -> None:
    given = {"input_ids": ids(1, TOKENS)}
    edited = trace(load(network(family)), ids(1, TOKENS), edits=[SetGate(1, (0, 2), 0)])
    projection = layer(family).attention.o_proj
    kept = projection.weight.data.clone()
    for head in (0, 2):
        projection.weight.data[:, head * DIM : (head + 1) * DIM] = 0
    expected = eager(network(family), given).logits
    projection.weight.data.copy_(kept)  # in place: layers hold views of it
    assert near(edited.output.values, expected)
    after = trace(load(network(family)), ids(1, TOKENS)).output.values
    assert after.equal(traced(family).output.values)


@EVERY
def test_of_a_padded_item(family: str) -> None:
    """A mean is over the item's own tokens."""
    rows = ids(2, TOKENS).flip(0)
    shown = torch.ones_like(rows)
    shown[0, 5:] = 0
    edit = SetGate(1, None, "mean")
    together = trace(network(family), {"input_ids": rows, "attention_mask": shown}, edits=[edit])
    alone = trace(network(family), rows[:1, :5], edits=[edit])
    assert near(together.output.values[0, :5], alone.output.values[0])


def test_refused_by_name() -> None:
    for net, given, message in (
        (
            ours("encoder"),
            torch.tensor([[3, 4, 5]]),
            "networks of this project have no output gate",
        ),
        (model("Llama"), ids(1, 5), "has no attention with an output gate"),
    ):
        with pytest.raises(ValueError, match=message):
            trace(net, given, edits=[SetGate(1, 0)])
    family = "query and gate interleaved"
    with pytest.raises(ValueError, match="layer: expected 0 to 1, received 2"):
        trace(network(family), ids(1, 5), edits=[SetGate(2, 0)])
    with pytest.raises(ValueError, match=f"head: expected 0 to {HEADS - 1}, received {HEADS}"):
        trace(network(family), ids(1, 5), edits=[SetGate(1, HEADS)])
    with pytest.raises(ValueError, match=r"value: expected 0 to 1, or mean, received 1\.5"):
        SetGate(1, 0, 1.5)


def test_text_and_sentence() -> None:
    edits = (SetGate(3, 1), SetGate(0, None, "mean"), SetGate(1, (0, 2), 0.25))
    assert parse_edits(format_edits(edits)) == edits
    assert [edit.describe() for edit in edits] == [
        "Layer 3, head 1: the output gate is open.",
        "Layer 0, every head: the output gate is held at its mean over the item's tokens.",
        "Layer 1, heads 0 and 2: the output gate is 0.25.",
    ]
