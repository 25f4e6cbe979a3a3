"""The smallest transformer, written out."""

from typing import Any

import pytest
import torch

from models.attention import MultiHeadAttention
from models.edits import Ablate
from models.layer import AttentionLayerConfig
from models.run import load, trace
from models.smallest import Smallest, SmallestConfig, unscaled
from tests.models.tensors import noise


def test_unscaled_attention_is_written_out() -> None:
    layer, x = MultiHeadAttention(unscaled(7)), noise(2, 5, 7)
    names = [name for name, _ in layer.named_parameters()]
    assert names == ["query.weight", "key.weight", "value.weight"]
    q, k, v = (x @ part.weight.T for part in (layer.query, layer.key, layer.value))
    expected = torch.softmax(q @ k.mT, -1) @ v
    assert (layer(x)[0] - expected).abs().max() < 1e-6  # outputs below 2, 7 products each


def test_smallest_is_written_out() -> None:
    network, x = Smallest(SmallestConfig(dim=7, seed=5)), noise(2, 5, 7)
    out = network(x)
    total = x + network.attention(x)[0]
    centred = total - total.mean(-1, keepdim=True)
    hidden = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    assert out.logits.shape == (2, 5, 1)
    assert (out.hidden - hidden).abs().max() < 2e-6  # normed: up to 3
    expected = hidden @ network.out.weight.T + network.out.bias
    assert (out.logits - expected).abs().max() < 2e-6
    assert out.patterns[0].weights(0).shape == (2, 5, 5)
    again, other = (Smallest(SmallestConfig(dim=7, seed=s))(x).logits for s in (5, 6))
    assert again.equal(out.logits)
    assert not other.equal(out.logits)


def test_smallest_reads_ids_of_words_too() -> None:
    network = Smallest(SmallestConfig(dim=7, vocab=13))
    assert sum(p.numel() for p in network.parameters()) == 3 * 7 * 7 + 2 * 7 + 7 + 1
    ids, words = torch.tensor([[3, 12, 0, 0], [5, 3, 1, 12]]), network.get_buffer("words")
    assert network(ids).logits.equal(network(words[ids]).logits)
    padding = torch.tensor([[False, False, True, True], [False] * 4])
    alone, together = network(ids[:1, :2]), network(ids, padding=padding)
    assert (alone.logits - together.logits[:1, :2]).abs().max() < 1e-6
    silent = network(ids, edits=[Ablate(0, 0)])
    assert silent.hidden.allclose(network.norm(words[ids]))
    with pytest.raises(ValueError, match="layer: expected 0 to 0, received 1"):
        network(ids, edits=[Ablate(1, 0)])


@pytest.mark.parametrize("config", [SmallestConfig(), AttentionLayerConfig()])
def test_a_stream_to_the_end_needs_blocks(config: Any) -> None:
    with pytest.raises(ValueError, match="expected a stream through blocks"):
        trace(load(config), "a b").stream(None, [0])
