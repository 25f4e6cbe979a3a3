"""all-MiniLM-L6-v2 in our network against the same in transformers, text by text."""

from functools import cache
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, BertModel

from models.catalogue import entry, folder
from models.run import load, trace

LAYERS = 6
ROUNDING = 1e-5  # of a weight and of a layer's largest number, through six layers of width 384
TEXTS: tuple[str | tuple[str, str], ...] = (
    " ",
    "a",
    "?!… — ();",
    "🙂🚀 👩\u200d🚀",
    "مرحبا بالعالم, שלום עולם",
    "Zażółć 漢字 кот naïve 한국어 ไทย",
    "<script>alert('&lt;b&gt;')</script>",
    "no no no no no no",
    "word " * 510,
    ("The animal didn't cross the street.", "It was too tired."),
)


@cache
def theirs() -> tuple[BertModel, Any]:
    path = folder(entry("minilm"))
    model = BertModel.from_pretrained(path, attn_implementation="eager")
    return model.eval(), AutoTokenizer.from_pretrained(path)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: str(text)[:12])
def test_one_text(text: str | tuple[str, str]) -> None:
    """Ids, every head of every layer, and every hidden state."""
    ours, (network, tokenizer) = load("minilm"), theirs()
    found = trace(ours, text, hidden=True)
    read = tokenizer(*((text,) if isinstance(text, str) else text), return_tensors="pt")
    assert [*found.tokens[0].ids] == read["input_ids"][0].tolist()
    assert [*found.tokens[0].segments] == read["token_type_ids"][0].tolist()
    with torch.no_grad():
        expected = network(**read, output_attentions=True, output_hidden_states=True)
    for layer in range(LAYERS):
        assert (found.weights(layer) - expected.attentions[layer][0]).abs().max() < ROUNDING
    for layer in range(LAYERS + 1):
        state = expected.hidden_states[layer][0]
        assert (found.hidden(layer) - state).abs().max() < ROUNDING * state.abs().max()
    assert found.output.values.equal(found.hidden(LAYERS)[None])
    assert ours.left_out == ("pooler.dense.bias", "pooler.dense.weight")
