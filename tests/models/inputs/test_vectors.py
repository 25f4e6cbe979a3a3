"""Vectors as input: layouts, names of tokens, masks, and what is refused."""

from typing import Any

import pytest
import torch
from torch import nn

from models.run import trace
from tests.models.tensors import noise

DIM, HEADS, TOKENS, BATCH = 15, 3, 5, 2


def attention(batch_first: bool = True) -> nn.MultiheadAttention:
    torch.manual_seed(7)
    return nn.MultiheadAttention(DIM, HEADS, batch_first=batch_first).eval()


def test_names_are_read_in_the_modules_own_layout() -> None:
    x = noise(TOKENS, BATCH, DIM)
    t = trace(attention(batch_first=False), {"query": x})
    expected = trace(attention(), x.transpose(0, 1))
    assert t.output.values.equal(expected.output.values)
    assert [len(item) for item in t.tokens] == [TOKENS] * BATCH


def test_a_tensor_says_how_it_was_read_where_the_module_has_tokens_first() -> None:
    t = trace(attention(batch_first=False), noise(BATCH, TOKENS, DIM))
    assert t.notes == ("vectors: read as batch, token, dim: 2 × 5 tokens",)
    assert trace(attention(), noise(BATCH, TOKENS, DIM)).notes == ()


def test_tokens_are_named_by_the_caller() -> None:
    names = ["the", "cat", "saw", "the", "dog"]
    t = trace(attention(), {"inputs_embeds": noise(TOKENS, DIM), "tokens": names})
    assert t.labels == names
    assert t.tokens[0].ids == (0, 1, 2, 0, 4)


def test_padding_of_either_kind_is_the_same() -> None:
    x, real = noise(BATCH, TOKENS, DIM), torch.ones(BATCH, TOKENS, dtype=torch.long)
    real[0, 3:] = 0
    one = trace(attention(), {"inputs_embeds": x, "attention_mask": real})
    added = torch.zeros(BATCH, TOKENS).masked_fill(real == 0, -torch.inf)
    other = trace(attention(), {"query": x, "key_padding_mask": added})
    alone = trace(attention(), x[0, :3])
    assert one.weights(0).equal(other.weights(0))
    torch.testing.assert_close(one.weights(0), alone.weights(0), atol=1e-6, rtol=0)


@torch.no_grad()
def test_any_mask_of_query_and_key_is_applied() -> None:
    module, x = attention(), noise(1, TOKENS, DIM)
    hidden = torch.zeros(TOKENS, TOKENS, dtype=torch.bool)
    hidden[3, 1:4] = True
    t = trace(module, {"query": x, "attn_mask": hidden})
    expected = module(x, x, x, attn_mask=hidden, average_attn_weights=False)[1][0]
    torch.testing.assert_close(t.weights(0), expected, atol=1e-6, rtol=0)
    assert t.sites[0].kind == "self"


X = noise(TOKENS, DIM)
TRIANGLE = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("a text", "reads vectors: .* width 15, received str"),
        (torch.arange(3)[None], "reads vectors: .*received torch.int64"),
        (noise(3, 14), r"width 15, received \(3, 14\)"),
        (noise(0, DIM), "at least one token"),
        (X.masked_fill(X > 1, torch.nan), "expected finite numbers"),
        ({"input_ids": torch.arange(3)[None]}, "does not read input_ids"),
        ({"is_causal": True}, "expected a dict with src, query or inputs_embeds"),
        ({"query": X, "src": X}, "expected one name for each input, received query, src"),
        ({"query": X, "key": X + 1, "value": X + 1}, "does not read key, value"),
        ({"query": X, "tokens": ["one"]}, "tokens: expected 5 strings, .*'one'"),
        ({"query": X, "tokens": [1, 2, 3, 4, 5]}, "tokens: expected 5 strings"),
        ({"query": X, "attn_mask": TRIANGLE[:3]}, r"attn_mask: expected query key, \(5, 5\)"),
        ({"query": X, "attn_mask": TRIANGLE.float()}, "True at hidden keys, or 0 and −∞"),
        ({"query": X, "key_padding_mask": torch.arange(5)[None] < 2}, "on the right only"),
        ({"query": X, "attention_mask": torch.ones(1, 4)}, "expected batch token"),
    ],
)
def test_bad_input_is_one_clear_line(given: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        trace(attention(), given)
    assert "\n" not in str(refused.value)


def test_a_target_is_refused() -> None:
    for given in (X, {"query": X}):
        with pytest.raises(ValueError, match="no encoder–decoder"):
            trace(attention(), given, "a text")
