"""all-MiniLM-L6-v2 in our network against the same in transformers, text by text and together."""

from functools import cache

import pytest
import torch
from torch import Tensor
from transformers import AutoTokenizer, BertModel

from models.catalogue import entry, folder
from models.run import Model, load, trace
from models.trace import Trace

LAYERS, HEADS = 6, 12
WEIGHTS = 1e-5  # float32 through six layers of width 384; 3e-6 was seen
HIDDEN = 1e-5  # the same, of the largest number in the layer

TEXTS: tuple[str | tuple[str, str], ...] = (
    " ",
    "a",
    "?!… — ();",
    "🙂🚀 👩\u200d🚀",
    "مرحبا بالعالم, שלום עולם",
    "Zażółć 漢字 кот naïve 한국어 ไทย",
    "<script>alert('&lt;b&gt;')</script>",
    "no no no no no no",
    "It was, she said, a long and winding sentence; " * 11,
    "word " * 510,
    ("The animal didn't cross the street.", "It was too tired."),
)


@cache
def ours() -> Model:
    return load("minilm")


@cache
def theirs() -> BertModel:
    model = BertModel.from_pretrained(folder(entry("minilm")), attn_implementation="eager")
    return model.eval()


def reference(found: Trace) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Attentions and hidden states by transformers, for the ids of a trace."""
    longest = max(map(len, found.tokens))
    filled = [len(item) * [1] + (longest - len(item)) * [0] for item in found.tokens]
    with torch.no_grad():
        out = theirs()(
            input_ids=_filled([item.ids for item in found.tokens], longest),
            token_type_ids=_filled([item.segments for item in found.tokens], longest),
            attention_mask=torch.tensor(filled),
            output_attentions=True,
            output_hidden_states=True,
        )
    return out.attentions, out.hidden_states


def _filled(rows: list[tuple[int, ...]], length: int) -> Tensor:
    return torch.tensor([[*row, *[0] * (length - len(row))] for row in rows])


def agree(found: Trace) -> None:
    """Every head of every layer, and every hidden state, at the real tokens of each item."""
    attentions, states = reference(found)
    for item, tokens in enumerate(found.tokens):
        n = len(tokens)
        for layer in range(LAYERS):
            weights = found.weights(layer, item=item)
            assert weights.shape == (HEADS, n, n)
            assert (weights - attentions[layer][item, :, :n, :n]).abs().max() < WEIGHTS
        for layer in range(LAYERS + 1):
            expected = states[layer][item, :n]
            off = (found.hidden(layer, item=item) - expected).abs().max()
            assert off < HIDDEN * expected.abs().max()
        last = found.output.values[item, :n] - states[-1][item, :n]
        assert last.abs().max() < HIDDEN * states[-1][item, :n].abs().max()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: str(text)[:12])
def test_one_text(text: str | tuple[str, str]) -> None:
    agree(trace(ours(), text, hidden=True))


def test_one_padded_batch() -> None:
    found = trace(ours(), [TEXTS[0], TEXTS[3], *TEXTS[8:]], hidden=True)
    lengths = [len(item) for item in found.tokens]
    assert max(lengths) == 512
    assert min(lengths) == 2
    assert sorted(lengths)[-2] > 100
    agree(found)


def test_ids_are_those_of_transformers() -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder(entry("minilm")))
    for text in TEXTS:
        parts = (text,) if isinstance(text, str) else text
        expected = tokenizer(*parts)
        found = ours().tokenizer
        assert found is not None
        tokens = found.encode(*parts)
        assert list(tokens.ids) == expected["input_ids"]
        assert list(tokens.segments) == expected["token_type_ids"]


def test_heads_differ() -> None:
    """Otherwise swapped heads would go unnoticed above."""
    found = trace(ours(), TEXTS[-1])
    for layer in range(LAYERS):
        weights = found.weights(layer)
        apart = (weights[:, None] - weights[None]).abs().amax((-2, -1))
        assert (apart + torch.eye(HEADS)).min() > 0.01


def test_what_was_left_out() -> None:
    assert ours().left_out == ("pooler.dense.bias", "pooler.dense.weight")
