"""The encoder block: a vector followed through its norm, and what moves when it does."""

import pytest
import torch
from torch import nn

from models.lessons.block_steps import block_steps, random_block
from models.lessons.depth import growth, last_gradient
from models.simple import worked_example
from tests.viz.pages.helpers import choose
from tests.viz.pages.lessons.pages import numbers, whole, words
from viz.pages.lessons.block import smallest
from viz.pages.lessons.block.page import HIDDEN, OTHERS, X, Y
from viz.pages.lessons.tables import number

EXACT = 6e-5  # four decimals, half a digit of the last, and what float32 adds


def lines(app) -> list[list[float]]:
    """The nine lines of the large table."""
    found = numbers(app)[:36]
    return [found[n : n + 4] for n in range(0, 36, 4)]


def expected(x: list[float], y: list[float]) -> list[list[float]]:
    total = torch.tensor(x) + torch.tensor(y)
    centred = total - total.mean()
    normed = nn.functional.layer_norm(total, (4,))
    ones, zeros = torch.ones(4), torch.zeros(4)
    parts = (total, centred, centred.square(), normed, ones, zeros, normed)
    return [x, y, *(part.tolist() for part in parts)]


def test_the_vector_is_followed_number_by_number() -> None:
    shown = lines(whole("block"))
    for line, wanted in zip(shown, expected(list(X[0]), list(Y[0])), strict=True):
        assert line == pytest.approx(wanted, abs=EXACT)


@pytest.mark.parametrize("name", ["x", "y"])
@pytest.mark.parametrize("place", [1, 4])
def test_one_number_moves_all_that_follow(name: str, place: int) -> None:
    app = whole("block")
    before = lines(app)
    choose(app, "block", f"{name}1{place}", -2.75)
    after = lines(app)
    given = {"x": list(X[0]), "y": list(Y[0])}
    given[name][place - 1] = -2.75
    for line, wanted in zip(after, expected(given["x"], given["y"]), strict=True):
        assert line == pytest.approx(wanted, abs=EXACT)
    for line in (3, 4, 5, 8):
        assert all(a != b for a, b in zip(before[line], after[line], strict=True))


def test_gain_and_shift_and_epsilon() -> None:
    app = whole("block", gamma11="2.0", beta12="0.5", eps="0.5")
    total = torch.tensor(X[0]) + torch.tensor(Y[0])
    gain, shift = torch.tensor([2.0, 1, 1, 1]), torch.tensor([0, 0.5, 0, 0])
    wanted = nn.functional.layer_norm(total, (4,), gain, shift, eps=0.5)
    assert lines(app)[-1] == pytest.approx(wanted.tolist(), abs=EXACT)


def test_another_word_moves_batch_norm_alone() -> None:
    def rows(app) -> tuple[list[float], list[float]]:
        found = numbers(app)
        total = (torch.tensor(X[0]) + torch.tensor(Y[0])).tolist()
        start = next(
            n
            for n in range(36, len(found))
            if found[n : n + 8] == pytest.approx([*total, *OTHERS[0]], abs=EXACT)
            or found[n : n + 5] == pytest.approx([*total, 30.0], abs=EXACT)
        )
        return found[start + 12 : start + 16], found[start + 24 : start + 28]

    layer, batch = rows(whole("block"))
    other_layer, other_batch = rows(whole("block", other11="30.0"))
    assert layer == other_layer
    assert batch != other_batch
    x = torch.tensor([(torch.tensor(X[0]) + torch.tensor(Y[0])).tolist(), *OTHERS])
    assert batch == pytest.approx(
        nn.functional.batch_norm(x, None, None, training=True)[0].tolist(), abs=EXACT
    )


@pytest.mark.parametrize("depth", [2, 8])
def test_depth(depth: int) -> None:
    said = words(whole("block", depth=depth))
    for norm in ("pre", "post"):
        found = growth(norm, depth)
        assert f"{norm}-norm, after block {depth} {number(float(found.sizes[-1]))}" in said
        assert f"{norm}-norm, last gradient {number(last_gradient(norm, depth))}" in said


def test_the_feed_forward_network_bends_differently() -> None:
    shown = {
        name: words(whole("block", activation=name)).partition("Up: W")[2]
        for name in ("relu", "gelu", "tanh")
    }
    assert len(set(shown.values())) == 3
    assert all(shown.values())


def test_the_way_through_both_kinds_of_block() -> None:
    x = torch.tensor([[list(X[0]), *map(list, OTHERS)]])
    before, after = words(whole("block")), words(whole("block", other21="7.0"))
    for norm in ("pre", "post"):
        for step in block_steps(random_block(norm, 4, HIDDEN), x):
            assert " ".join(number(v, 3) for v in step.out[0, 0].tolist()) in before
    assert before[: before.index("Add & Norm")] != after[: after.index("Add & Norm")]


def test_the_smallest_transformer() -> None:
    """The printed numbers: unscaled attention, and the predictions; all move with the words."""
    printed = (-0.1773, -0.0453, -0.0796, -0.1774, -0.0451, -0.0792, 1.0185, 0.0264)
    assert worked_example().words[0].tolist() == [list(row) for row in smallest.WORDS]
    app = whole("block")
    found = numbers(app)
    place = found.index(printed[0]) - 1
    for value in printed:
        place = found.index(value, place + 1)
    for word in ("w11", "w12", "w22"):
        choose(app, "block", word, 0.9)
    assert not set(printed) & set(numbers(app))
