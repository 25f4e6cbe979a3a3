"""How influence fades: closed form without an activation, finite differences with one."""

import pytest
import torch

from models.lessons.sequences import DIM, attention_influence, recurrent_influence


@pytest.mark.parametrize("gain", [0.5, 1.0, 1.25])
def test_without_an_activation_every_step_multiplies_by_the_gain(gain: float) -> None:
    found = recurrent_influence(13, gain=gain, activation="none").flip(0)
    torch.testing.assert_close(found, found[0] * gain ** torch.arange(13.0), rtol=1e-4, atol=0)


def test_an_activation_only_shrinks_it() -> None:
    linear = recurrent_influence(13, gain=0.9, activation="none", seed=3)
    tanh = recurrent_influence(13, gain=0.9, seed=3)
    assert bool((tanh < linear).all())  # the slope of tanh is below 1 everywhere but at 0


def test_attention_does_not_care_for_distance() -> None:
    """By differences: the Jacobian of the last output, computed column by column."""
    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
    from models.seeding import seeded

    with seeded(0):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=1)).eval().double()
    with seeded(0):
        MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=1))
        x = torch.randn(7, DIM)
    found, step = attention_influence(7), 1e-5
    for token in (0, 3, 6):
        moves = torch.zeros(2 * DIM, 7, DIM, dtype=torch.float64)
        for column in range(DIM):
            moves[column, token, column], moves[DIM + column, token, column] = step, -step
        with torch.no_grad():
            last = layer(x.double() + moves)[0][:, -1]
        slopes = (last[:DIM] - last[DIM:]) / (2 * step)
        assert found[token].item() == pytest.approx(slopes.norm().item(), rel=1e-3)


def test_what_is_no_activation() -> None:
    with pytest.raises(ValueError, match="expected tanh or none, received relu"):
        recurrent_influence(3, activation="relu")
