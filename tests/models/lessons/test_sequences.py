"""How influence fades: closed form without an activation, finite differences with one."""

import pytest
import torch

from models.lessons.sequences import DIM, attention_influence, recurrent_influence


@pytest.mark.parametrize("gain", [0.5, 1.0, 1.25])
def test_without_an_activation_every_step_multiplies_by_the_gain(gain: float) -> None:
    found = recurrent_influence(13, gain=gain, activation="none").flip(0)
    torch.testing.assert_close(found, found[0] * gain ** torch.arange(13.0), rtol=1e-4, atol=0)


@pytest.mark.parametrize("activation", ["tanh", "none"])
def test_the_chain_rule_agrees_with_backpropagation(activation: str) -> None:
    from models.seeding import seeded

    with seeded(0):
        turn = torch.linalg.qr(torch.randn(DIM, DIM)).Q
        inward = torch.randn(DIM, DIM) / DIM**0.5
        x = torch.randn(11, DIM)

    def last(x: torch.Tensor) -> torch.Tensor:
        state = torch.zeros(DIM)
        for token in x:
            state = 0.8 * turn @ state + inward @ token
            state = state.tanh() if activation == "tanh" else state
        return state

    slopes = torch.autograd.functional.jacobian(last, x)
    expected = torch.as_tensor(slopes).square().sum((0, 2)).sqrt()
    found = recurrent_influence(11, gain=0.8, activation=activation)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=0)


def test_what_is_nearly_forgotten_is_not_rounded_to_nothing() -> None:
    """Without an activation in closed form; with one smaller still."""
    linear, tanh = (recurrent_influence(64, gain=0.5, activation=each) for each in ("none", "tanh"))
    assert (linear[0] / linear[-1]).item() == pytest.approx(0.5**63, rel=1e-5)
    assert (tanh[0] / tanh[-1]).item() == pytest.approx(1.5e-32, rel=0.03)


def test_an_activation_only_shrinks_it() -> None:
    linear = recurrent_influence(13, gain=0.9, activation="none")
    tanh = recurrent_influence(13, gain=0.9, activation="tanh")
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
        recurrent_influence(3, gain=0.9, activation="relu")
