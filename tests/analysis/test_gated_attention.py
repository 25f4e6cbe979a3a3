"""Attention with an output gate: against plain loops over the matrices of the library's layers.

y_ij = Σ_h A_hij ((v_hj) ⊙ σ(g_hi)) W_O
"""

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from analysis.circuits import COPYING, circuit_scores
from analysis.norms import value_norms
from analysis.split import split
from analysis.stages import stages
from models.edits import Ablate
from models.run import load, trace
from tests.models.pretrained.tiny import build, eager, ids

HEADS, KEYS, DIM, TOKENS = 4, 2, 8, 7
ROUNDING = 2e-5  # of the largest number: sums over 32 features in float32
SIZES: dict[str, Any] = {
    "vocab_size": 53,
    "hidden_size": 30,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KEYS,
    "head_dim": DIM,
    "intermediate_size": 40,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "layer_types": ["full_attention"] * 2,
}
SPARSE: dict[str, Any] = {
    "moe_intermediate_size": 12,
    "shared_expert_intermediate_size": 12,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "mlp_only_layers": [0, 1],
}
FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {  # model, config, sizes
    "query and gate interleaved": ("Qwen3NextForCausalLM", "Qwen3NextConfig", {**SIZES, **SPARSE}),
    "the same, later": ("Qwen3_5ForCausalLM", "Qwen3_5TextConfig", SIZES),
    "a module of its own": (
        "AfmoeForCausalLM",
        "AfmoeConfig",
        {**SIZES, "moe_intermediate_size": 12, "num_experts": 4, "num_dense_layers": 2},
    ),
    "one number for a head": (
        "Lfm3ForCausalLM",
        "Lfm3Config",
        {**SIZES, "use_attention_gate": True, "num_dense_layers": 2},
    ),
}
EVERY = pytest.mark.parametrize("family", FAMILIES)


@cache
def network(family: str) -> Any:
    return build(*FAMILIES[family])


@cache
def traced(family: str) -> Any:
    return trace(load(network(family)), ids(1, TOKENS), hidden=True)


class Layer:
    """One attention layer as a plain loop: its own modules, read while the library runs it."""

    def __init__(self, network: Any, given: dict[str, Tensor], number: int, item: int = 0) -> None:
        layer = network.get_decoder().layers[number]
        self.attention = next(
            part for name, part in layer.named_children() if "attn" in name or "attention" in name
        )
        seen: dict[str, Tensor] = {}

        def note(_: nn.Module, args: tuple, kwargs: dict[str, Any], made: Any) -> None:
            seen["x"] = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
            seen["out"] = made[0]

        hook = self.attention.register_forward_hook(note, with_kwargs=True)
        self.weights = eager(network, given).attentions[number][item]
        hook.remove()
        self.x, self.out = (seen[name][item].detach() for name in ("x", "out"))
        self.output = self.attention.o_proj.weight.detach()

    def gate(self, head: int, query: int) -> Tensor:
        """σ of the head's share of the gate's projection."""
        parts, x = dict(self.attention.named_children()), self.x[query]
        if "g_proj" in parts:
            return parts["g_proj"].weight[head : head + 1].matmul(x).sigmoid().detach()
        if "gate_proj" in parts:
            rows = parts["gate_proj"].weight[head * DIM : (head + 1) * DIM]
        else:
            start = (2 * head + 1) * DIM
            rows = parts["q_proj"].weight[start : start + DIM]
        return rows.matmul(x).sigmoid().detach()

    def value(self, head: int, key: int) -> Tensor:
        own = head // (HEADS // KEYS) * DIM
        return self.attention.v_proj.weight.detach()[own : own + DIM] @ self.x[key]

    def added(self) -> Tensor:
        """What each head adds to each query for each key, `head query key dim`."""
        tokens = len(self.x)
        found = torch.zeros(HEADS, tokens, tokens, len(self.output))
        for head in range(HEADS):
            matrix = self.output[:, head * DIM : (head + 1) * DIM]
            for i in range(tokens):
                gate = self.gate(head, i)
                for j in range(tokens):
                    vector = matrix @ (self.value(head, j) * gate)
                    found[head, i, j] = self.weights[head, i, j] * vector
        return found


@cache
def layer(family: str, number: int = 1) -> Layer:
    return Layer(network(family), {"input_ids": ids(1, TOKENS)}, number)


def near(found: Tensor, expected: Tensor) -> bool:
    return bool((found - expected).abs().max() <= ROUNDING * expected.abs().max())


@EVERY
def test_the_loop_is_the_layer(family: str) -> None:
    own = layer(family)
    assert near(own.added().sum((0, 2)), own.out)


@EVERY
def test_queries_and_gates_are_told_apart(family: str) -> None:
    """Their projections, and the gates of each query."""
    t, own = traced(family), layer(family)
    maps, gates = t.projections(1), t.gates(t.sites[1])
    assert gates is not None
    assert maps.gate is not None
    for head in range(HEADS):
        expected = torch.stack([own.gate(head, query) for query in range(TOKENS)])
        assert near(gates[head], expected)
        assert near((own.x @ maps.gate[head]).sigmoid().detach(), expected)
        weight = own.attention.q_proj.weight.detach()
        start = head * len(weight) // HEADS
        assert maps.query[head].detach().equal(weight[start : start + DIM].T)


@EVERY
def test_norms(family: str) -> None:
    t, added = traced(family), layer(family).added()
    assert near(value_norms(t, 1), added.norm(dim=-1))
    words = [(0,), (1, 2, 4), (3,), (5, 6)]
    expected = torch.stack([added[:, :, list(word)].sum(2).norm(dim=-1) for word in words], -1)
    assert near(value_norms(t, 1, words=words), expected)


@EVERY
def test_stages(family: str) -> None:
    t, added = traced(family), layer(family).added()
    for head in range(HEADS):
        found = stages(t, t.sites[1], head, 5)
        assert found.gated
        assert found.written is not None
        assert near(found.written, added[head, 5].sum(0))


@EVERY
def test_splits_sum_to_the_score(family: str) -> None:
    """Heads of earlier layers are among what was written: gated, or they would not sum."""
    assert split(traced(family), 1, 2, 5, 3).error < 1e-3


@EVERY
def test_copying_at_the_mean_gate(family: str) -> None:
    t, own = traced(family), layer(family)
    scores, _ = circuit_scores(t, t.sites[1], {})
    maps = t.projections(1)
    for head in range(HEADS):
        gate = torch.stack([own.gate(head, query) for query in range(TOKENS)]).mean(0)
        group = head // (HEADS // KEYS) * DIM
        value = own.attention.v_proj.weight.detach()[group : group + DIM]
        norm = 1 if maps.norm is None else maps.norm.weight.detach()
        matrix = own.output[:, head * DIM : (head + 1) * DIM] * gate @ (value * norm)
        values = torch.linalg.eigvals(matrix)
        expected = values.real.sum() / values.abs().sum()
        assert abs(float(scores[COPYING][head] - expected)) < 1e-3


@EVERY
def test_a_head_at_its_mean(family: str) -> None:
    """The mean is of the values, before the gate of each query."""
    edited = trace(load(network(family)), ids(1, TOKENS), edits=[Ablate(1, 2, "mean")])
    own = layer(family)
    matrix = own.output[:, 2 * DIM : 3 * DIM]
    shares = own.weights[2].mean(0)
    expected = [
        [(shares[j] * matrix @ (own.value(2, j) * own.gate(2, i))).norm() for j in range(TOKENS)]
        for i in range(TOKENS)
    ]
    assert near(value_norms(edited, 1)[2], torch.tensor(expected))
