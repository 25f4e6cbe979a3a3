"""What heads do: the figures in the texts are those on the screen, which move with their inputs."""

import re

import pytest

from tests.viz.pages.lessons.pages import errors, numbers, run, words
from viz.pages.lessons.heads_do.texts import TRIES


def losses(said: str) -> dict[str, tuple[float, float]]:
    """Loss and accuracy by row of the table of ablations."""
    rows = re.findall(r"(all heads|without layer \d, head \d) (\d\.\d{4}) ([\d.]+)%", said)
    return {name: (float(loss), float(share)) for name, loss, share in rows}


def test_roles_and_what_depends_on_them() -> None:
    app = run("heads_do")
    table = numbers(app)[:12]
    previous, induction = table[0::3], table[1::3]
    assert max(range(4), key=previous.__getitem__) == 1  # layer 0, head 1
    assert min(induction[2:]) > 0.9 > 0.1 > max(induction[:2])  # both heads of layer 1
    found = losses(words(app))
    assert found["all heads"][1] == 100
    assert found["without layer 0, head 1"][1] < 10
    assert found["without layer 0, head 0"][1] > 99
    assert found["without layer 1, head 1"][1] < found["without layer 1, head 0"][1] - 5


def test_ablations_move_with_the_length() -> None:
    assert losses(words(run("heads_do", length=8))) != losses(words(run("heads_do")))


def bars(said: str, title: str) -> dict[str, float]:
    """The numbers of a chart by name."""
    part = re.split(title, said)[1]
    rows = re.findall(r"(\d+ (?:\[\w+\]|\w+)) (\d\.\d\d)(?!\d)", part)
    found: dict[str, float] = {}
    for name, value in rows:
        if name in found:
            break
        found[name] = float(value)
    return found


@pytest.mark.parametrize(
    ("number", "key", "weight", "change"),
    [(None, "3 near", 0.91, 0.01), (0, "4 the", 1.0, 0.75), (1, "6 near", 0.16, 0.17)],
)
def test_the_buttons_show_what_they_say(
    number: int | None, key: str, weight: float, change: float
) -> None:
    said = words(run("heads_do", **({} if number is None else TRIES[number].settings)))
    weights, changes = bars(said, "Weight from “[^”]+”"), bars(said, "Change when hidden")
    assert (weights[key], changes[key]) == (weight, change)
    assert sum(weights.values()) == pytest.approx(1, abs=0.05)  # rounded to two digits each
    if number == 1:
        assert changes["6 near"] > changes["0 [BEGIN]"]


@pytest.mark.parametrize("seed", [0, 5])
def test_other_weights_have_the_same_output(seed: int) -> None:
    said = words(run("heads_do", seed=seed))
    outputs = re.findall(r"output of the \w+ (−?\d\.\d{4}, −?\d\.\d{4})", said)
    assert len(outputs) == 2
    assert outputs[0] == outputs[1]
    (moved,) = re.findall(r"weight moved ([\d.]+)%", said)
    assert float(moved) > 5


def test_nothing_to_read() -> None:
    assert errors(run("heads_do", sentence="", repeated="abcabc"))
