"""Roles of heads: ablations and removals by plain forward passes; other weights as defined."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from models.decoder import Decoder, DecoderConfig
from models.lessons.head_roles import ablations, other_weights, removals, repeats

CONFIG = DecoderConfig(vocab=17, dim=10, depth=2, heads=2, mlp=14, max_tokens=19, dropout=0.0)


@pytest.fixture(scope="module")
def network() -> Decoder:
    """Of random weights, large enough that attention matters."""
    made = Decoder(CONFIG).eval()
    with torch.no_grad():
        for weights in made.parameters():
            weights.mul_(2.0)
    return made


def test_a_sequence_comes_twice() -> None:
    ids = repeats(7, 5, 3, 17)
    assert ids.shape == (7, 10)
    assert torch.equal(ids[:, :5], ids[:, 5:])
    assert all(len(set(row[:5].tolist())) == 5 and 3 <= min(row) for row in ids)


def test_an_ablated_head_is_one_whose_output_projection_has_no_columns_for_it(
    network: Decoder,
) -> None:
    ids = repeats(3, 6, 3, 17)
    found = ablations(network, ids, 6)
    assert [(each.layer, each.head) for each in found] == [
        *((None, None), (0, 0), (0, 1), (1, 0), (1, 1))
    ]
    for each in found:
        changed = Decoder(CONFIG).eval()
        changed.load_state_dict(network.state_dict())
        with torch.no_grad():
            if each.layer is not None and each.head is not None:
                block: Any = changed.blocks[each.layer]
                out = block.attention.out
                out.weight[:, 5 * each.head : 5 * each.head + 5] = 0
            logits = changed(ids).logits[:, 6:-1]
        right = ids[:, 7:]
        assert each.loss == pytest.approx(F.cross_entropy(logits.mT, right).item(), rel=1e-5)
        assert each.accuracy == pytest.approx((logits.argmax(-1) == right).double().mean().item())


@pytest.mark.parametrize("seed", range(4))
def test_other_weights_have_the_same_output(seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    values = torch.randn(7, 3, generator=chance)
    weights = torch.randn(7, generator=chance).softmax(-1)
    found = other_weights(weights, values)
    torch.testing.assert_close(found @ values, weights @ values)
    assert found.sum().item() == pytest.approx(1, abs=1e-5)
    assert 0 <= found.min() < 1e-6  # as far as it goes, to a rounding of float32
    assert (found - weights).abs().sum() > 0.05


def test_too_few_keys_leave_no_choice() -> None:
    with pytest.raises(ValueError, match="expected at least 5 for 3 features, received 4"):
        other_weights(torch.full((4,), 0.25), torch.eye(4, 3))


def test_a_removed_key_is_one_with_a_score_of_minus_infinity(network: Decoder) -> None:
    """In the last layer, where one row alone reaches the last logits: worked out by hand."""
    ids = torch.tensor([4, 9, 2, 11, 6])
    found = removals(network, ids, 1, 1)
    out = network(ids[None])
    pattern = out.patterns[1]
    block: Any = network.blocks[1]
    assert [each.weight for each in found] == pattern.weights(1)[0, -1].tolist()
    assert sum(each.weight for each in found) == pytest.approx(1, abs=1e-5)
    before = out.logits[0, -1].softmax(-1)
    with torch.no_grad():
        x = out.states[1][0, -1]
        for each in found:
            scores = pattern.scores()[0, :, -1].clone()
            scores[1, each.key] = -torch.inf
            mixed = scores.softmax(-1)[:, None] @ pattern.v[0]
            y = x + block.attention.out(mixed.flatten())
            y = y + block.feed_forward(block.before_feed_forward(y)[None, None])
            tied = network.embedding.tokens.weight
            after = network.output(network.norm(y), tied)[0, 0].softmax(-1)
            assert each.change == pytest.approx(0.5 * (after - before).abs().sum().item(), abs=1e-5)
