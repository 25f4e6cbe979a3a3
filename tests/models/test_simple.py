"""The smallest self-attentions: printed numbers, one head at a time, and the shapes of a course."""

import math

import pytest
import torch
from torch import Tensor

from models.attention import Dot, MultiHeadAttention, MultiHeadAttentionConfig, attend
from models.edits import Ablate
from models.run import load, trace
from models.seeding import seeded
from models.simple import (
    Smallest,
    SmallestConfig,
    columns_and_matrices,
    feature_by_feature,
    head_by_head,
    one_head,
    unlearned,
    unscaled,
    word_by_word,
    worked_example,
)
from tests.models.tensors import noise

PRINTED = 5.1e-5  # four decimals, half a digit of the last
with seeded(10):
    WORDS = torch.rand(1, 2, 3)
COLUMNS, MATRICES = columns_and_matrices()


def close(found: Tensor, printed: list[list[float]]) -> bool:
    return bool((found - torch.tensor(printed)).abs().max() < PRINTED)


# --- numbers ----------------------------------------------------------------------------------


def test_the_examples_as_printed() -> None:
    assert close(WORDS[0], [[0.4581, 0.4829, 0.3125], [0.6150, 0.2139, 0.4118]])
    assert close(COLUMNS[0], [[0.4581, 0.4829], [0.3125, 0.6150], [0.2139, 0.4118]])
    assert close(MATRICES.query, [[1.5410, -0.2934, -2.1788], [0.5684, -1.0845, -1.3986]])
    assert close(MATRICES.key, [[0.7576, 0.2793, 0.4031], [0.7347, 0.0293, 0.7999]])
    assert close(MATRICES.value, [[0.6147, 0.3810, 0.6371], [0.4745, 0.7136, 0.6190]])


def test_nothing_to_learn() -> None:
    out, pattern = unlearned(WORDS)
    assert close(pattern.scores(0, item=0), [[0.5406, 0.5137], [0.5137, 0.5936]])
    assert close(pattern.weights(0, item=0), [[0.5067, 0.4933], [0.4800, 0.5200]])
    assert close(out[0], [[0.5355, 0.3502, 0.3615], [0.5397, 0.3430, 0.3641]])


def test_words_as_columns_compare_features() -> None:
    out, pattern = feature_by_feature(COLUMNS, MATRICES)
    assert close(pattern.q[0, 0], [[0.1481, -0.3337], [-0.3777, -0.9685]])
    assert close(pattern.k[0, 0], [[0.5206, 0.7036], [0.5168, 0.7022]])
    assert close(pattern.v[0, 0], [[0.5370, 0.7935], [0.5728, 0.9229]])
    assert close(pattern.weights(0, item=0), [[0.5000, 0.5000], [0.4996, 0.5004]])
    assert close(out[0], [[0.5549, 0.8582], [0.5549, 0.8583]])


def test_word_by_word() -> None:
    """The same numbers with words as rows; a word's q, k and v are columns of the other's."""
    out, pattern = word_by_word(COLUMNS.mT, MATRICES)
    assert pattern.q[0, 0].allclose(feature_by_feature(COLUMNS, MATRICES)[1].q[0, 0].T)
    assert close(pattern.weights(0, item=0), [[0.5076, 0.4924], [0.5424, 0.4576]])
    assert close(out[0], [[0.6633, 0.7452], [0.6544, 0.7330]])


def test_every_number_moves_with_the_words() -> None:
    moved = WORDS.clone()
    moved[0, 0, 1] += 0.5
    (out, pattern), (other, changed) = unlearned(WORDS), unlearned(moved)
    assert (pattern.weights() - changed.weights()).abs().min() > 0.01
    assert (out - other).abs().min() > 0.001


def test_worked_example() -> None:
    example = worked_example()
    assert close(example.words[0], [[0.4425, 0.0958, 0.6142], [0.0573, 0.5657, 0.5332]])
    attended, _ = example.attention(example.words)
    assert close(attended[0], [[-0.1773, -0.0453, -0.0796], [-0.1774, -0.0451, -0.0792]])
    assert close(example.transformer(example.words).predictions[0], [[1.0185], [0.0264]])


def test_the_example_leaves_the_global_dice_alone() -> None:
    before = torch.get_rng_state()
    worked_example()
    assert torch.get_rng_state().equal(before)


# --- the smallest transformer -----------------------------------------------------------------


def test_unscaled_attention_is_written_out() -> None:
    layer, x = MultiHeadAttention(unscaled(7)), noise(2, 5, 7)
    assert isinstance(layer.out, torch.nn.Identity)
    assert [name for name, _ in layer.named_parameters()] == [
        "query.weight",
        "key.weight",
        "value.weight",
    ]
    q, k, v = (x @ part.weight.T for part in (layer.query, layer.key, layer.value))
    expected = torch.softmax(q @ k.mT, -1) @ v
    assert (layer(x)[0] - expected).abs().max() < 1e-6  # outputs below 2, 7 products each


def test_smallest_is_written_out() -> None:
    network, x = Smallest(SmallestConfig(dim=7, seed=5)), noise(2, 5, 7)
    out = network(x)
    total = x + network.attention(x)[0]
    centred = total - total.mean(-1, keepdim=True)
    hidden = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    assert out.predictions.shape == (2, 5, 1)
    assert (out.hidden - hidden).abs().max() < 2e-6  # normed: up to 3
    expected = hidden @ network.out.weight.T + network.out.bias
    assert (out.predictions - expected).abs().max() < 2e-6
    assert out.patterns[0].weights(0).shape == (2, 5, 5)
    assert out.states[0] is x
    assert out.states[1] is out.hidden
    again, other = (Smallest(SmallestConfig(dim=7, seed=s))(x).predictions for s in (5, 6))
    assert again.equal(out.predictions)
    assert not other.equal(out.predictions)
    with pytest.raises(ValueError, match="dim: expected at least 1, received 0"):
        SmallestConfig(dim=0)


def test_smallest_reads_ids_of_words_too() -> None:
    network = Smallest(SmallestConfig(dim=7, vocab=13))
    assert sum(p.numel() for p in network.parameters()) == 3 * 7 * 7 + 2 * 7 + 7 + 1
    ids, words = torch.tensor([[3, 12, 0, 0], [5, 3, 1, 12]]), network.get_buffer("words")
    assert network(ids).predictions.equal(network(words[ids]).predictions)
    padding = torch.tensor([[False, False, True, True], [False] * 4])
    alone, together = network(ids[:1, :2]), network(ids, padding=padding)
    assert (alone.predictions - together.predictions[:1, :2]).abs().max() < 1e-6
    silent = network(ids, edits=[Ablate(0, 0)])
    assert silent.hidden.allclose(network.norm(words[ids]))
    with pytest.raises(ValueError, match="layer: expected 0 to 0, received 1"):
        network(ids, edits=[Ablate(1, 0)])


def test_smallest_is_traced() -> None:
    found = trace(load(SmallestConfig()), "Ada wrote the first program")
    (site,) = found.sites
    assert (site.kind, site.heads, site.queries) == ("self", 1, len(found.labels))
    assert (found.weights(layer=0, head=0).sum(-1) - 1).abs().max() < 1e-6
    assert found.output.name == "predictions"


# --- many heads are one head, many times ------------------------------------------------------

LAYERS = {
    "split heads": MultiHeadAttentionConfig(dim=35, heads=5),
    "free width": MultiHeadAttentionConfig(dim=13, heads=3, head_dim=7, value_dim=11),
    "head width 64 × 8 at width 128": MultiHeadAttentionConfig(
        dim=128, heads=8, head_dim=64, qkv_bias=False
    ),
    "wide heads": MultiHeadAttentionConfig(
        dim=10,
        heads=20,
        head_dim=10,
        qkv_bias=False,
        out_bias=False,
        dot_scaling="fourth root",
    ),
    "own scale, shortcut": MultiHeadAttentionConfig(
        dim=21, heads=3, scale=0.9, value_shortcut=True
    ),
    "unscaled": MultiHeadAttentionConfig(dim=21, heads=3, dot_scaling="none"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_head_by_head_equals_all_at_once(name: str) -> None:
    config = LAYERS[name]
    layer, x = MultiHeadAttention(config).eval(), noise(2, 11, config.dim)
    out, pattern = layer(x)
    expected, patterns = head_by_head(layer, x)
    assert out.shape == x.shape
    # Sums of up to 512 float32 products in another order
    assert (out - expected).abs().max() < 5e-6 * expected.abs().max()
    for head, one in enumerate(patterns):
        assert (pattern.weights(head) - one.weights(0)).abs().max() < 1e-6


# --- shapes -----------------------------------------------------------------------------------


def test_queries_keys_and_values_of_their_own_sizes() -> None:
    """All scores alike: the average of the values."""
    values = noise(2, 10, 4)
    out, pattern = one_head(torch.zeros(2, 1, 2), torch.zeros(2, 10, 2), values)
    assert out.shape == (2, 1, 4)
    assert pattern.weights(0).shape == (2, 1, 10)
    assert (out[:, 0] - values.mean(1)).abs().max() < 1e-6


def test_input_of_another_width() -> None:
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=100, heads=5, input_dim=5))
    out, pattern = layer(torch.ones(16, 5, 5))
    assert out.shape == (16, 5, 100)
    assert pattern.weights().shape == (16, 5, 5, 5)
    assert (pattern.weights() - 0.2).abs().max() < 1e-6  # five words that are all the same


def test_wide_heads() -> None:
    layer = MultiHeadAttention(LAYERS["wide heads"])
    out, pattern = layer(noise(8, 5, 10))
    assert out.shape == (8, 5, 10)
    assert pattern.q.shape == (8, 20, 5, 10)
    assert layer.query.weight.shape == (200, 10)
    assert layer.out.weight.shape == (10, 200)


def test_one_head_is_attention_without_the_axis() -> None:
    q, k, v = noise(2, 3, 7), noise(2, 5, 7, seed=4), noise(2, 5, 7, seed=5)
    out, pattern = one_head(q, k, v, scale=0.9)
    expected, _ = attend(q[:, None], k[:, None], v[:, None], score=Dot(scale=0.9))
    assert out.equal(expected[:, 0])
    assert one_head(q, k, v)[1].scores(0).allclose(q @ k.mT / math.sqrt(7), atol=1e-5)
    assert pattern.heads == 1
