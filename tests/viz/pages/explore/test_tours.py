"""Every tour, walked on its model: each number is the one that is there at its step."""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from models.card import Example
from models.edits import Ablate
from models.run import Model, Trace, load, trace
from tests.fetched import fetched
from viz.api.samples import PHOTOS
from viz.pages.explore import examples
from viz.pages.explore.examples import EXAMPLES, TOURS
from viz.pages.explore.page import params

BY_NAME = {(model, each.name): each for model, some in EXAMPLES.items() for each in some}
WALKS = [(model, name) for model, some in TOURS.items() for name in some]
PERCENT = re.compile(r"(\d+) %")


@dataclass(frozen=True)
class Seen:
    """What is chosen at a step."""

    input: Any
    kind: str
    layer: int
    head: int
    token: int
    edits: tuple[Ablate, ...] = ()

    def after(self, done: dict[str, Any]) -> "Seen":
        ((what, value),) = done.items()
        if what == "select":
            return replace(self, **value)
        if what == "input":
            return replace(self, input=value)
        off = Ablate(self.layer, self.head, kind=self.kind)
        assert what in ("off", "undo")
        return replace(self, edits=(*self.edits, off) if what == "off" else self.edits[:-1])


def begin(example: Example) -> Seen:
    given = PHOTOS.get(example.input, example.input)
    return Seen(given, example.kind, example.layer, example.head, example.query)


@cache
def traced(model: str, input: Any, edits: tuple[Ablate, ...]) -> Trace:
    return trace(opened(model), input, edits=edits)


@cache
def opened(model: str) -> Model:
    return load(model if model == "minilm" else fetched(model).name)


def chance(model: str, t: Trace, word: str) -> float:
    tokenizer = opened(model).tokenizer
    assert tokenizer is not None
    return float(t.output.row(-1).softmax(-1)[tokenizer.encode(word).ids[-1]])


def number(model: str, seen: Seen, of: int | str) -> float:
    t = traced(model, seen.input, seen.edits)
    if isinstance(of, str):
        return chance(model, t, of)
    return float(t.weights(seen.layer, seen.head, kind=seen.kind)[seen.token, of])


def led(walk: list[Any]) -> set[str]:
    """The texts that a tour leads to."""
    return {done["input"] for step in walk for done in step.get("do", ()) if "input" in done}


def test_every_example_has_a_tour_of_three_or_four_steps() -> None:
    assert {*WALKS} == {*BY_NAME}
    for model, name in WALKS:
        walk = TOURS[model][name]
        assert 3 <= len(walk) <= 4
        for other, steps in TOURS[model].items():  # a text tells whose tour leads to it
            assert other == name or led(walk).isdisjoint(led(steps))
        assert all(step["button"] and step["do"] for step in walk[:-1])
        for step in walk:
            assert len(PERCENT.findall(step["text"])) <= 1
            if "choices" in step:
                assert sum(each["right"] for each in step["choices"]) == 1


@pytest.mark.parametrize(
    ("model", "name"),
    [pytest.param(*each, marks=[] if each[0] == "minilm" else pytest.mark.long) for each in WALKS],
)
def test_the_numbers_of_a_tour_are_those_at_its_steps(model: str, name: str) -> None:
    example, seen = BY_NAME[model, name], begin(BY_NAME[model, name])
    t = traced(model, seen.input, ())
    row = t.weights(seen.layer, seen.head, kind=seen.kind)[seen.token]
    assert row[example.key].item() == pytest.approx(example.weight, abs=0.005)
    assert row[t.prefix :].argmax() + t.prefix == example.key
    for step in TOURS[model][name]:
        told = PERCENT.findall(step["text"])
        assert bool(told) == ("number" in step)
        for percent in told:
            assert 100 * number(model, seen, step["number"]) == pytest.approx(
                int(percent), abs=0.51
            )
        for done in step.get("do", ()):
            seen = seen.after(done)


def test_a_translation_opens_as_lines_that_cross_at_every_token() -> None:
    chosen = examples.begin("translate", {})
    assert chosen is not None
    assert (chosen["form"], chosen["token"], chosen["attention"]) == ("lines", None, "cross")
    defaults = {param.name: param.default for param in params("translate", {})}
    assert (defaults["form"], defaults["token"], defaults["head"]) == ("lines", None, 0)
    defaults = {param.name: param.default for param in params("minilm", {})}
    assert (defaults["form"], defaults["token"]) == ("matrix", 10)


# Head, the next word, and its chance in percent: with all, without the head by zero and by mean.
EFFECTS = [
    ("Who gets it?", (23, 0), " Mary", 92, 87, 89),
    ("Who gets it?", (24, 4), " Mary", 92, 98, 97),
    ("It comes again", (18, 6), " planet", 11, 7, 9),
    ("An open bracket", (26, 6), ")", 57, 90, 83),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "head", "word", "all", "zero", "mean"), EFFECTS)
def test_what_a_head_does_for_the_next_word_holds_by_zero_and_by_mean(
    name: str, head: tuple[int, int], word: str, all: int, zero: int, mean: int
) -> None:
    text = BY_NAME["smollm2", name].input
    t = traced("smollm2", text, ())
    assert opened("smollm2").tokenizer.text([int(t.output.row(-1).argmax())]) == word  # pyright: ignore
    found = [
        100 * chance("smollm2", traced("smollm2", text, edits), word)
        for edits in ((), (Ablate(*head),), (Ablate(*head, how="mean"),))
    ]
    assert found == pytest.approx([all, zero, mean], abs=0.51)
    assert (zero < all) == (mean < all)


@pytest.mark.long
def test_every_head_that_a_tour_switches_off_is_measured_by_zero_and_by_mean() -> None:
    measured = {(name, head) for name, head, *_ in EFFECTS}
    for model, name in WALKS:
        seen = begin(BY_NAME[model, name])
        for step in TOURS[model][name]:
            for done in step.get("do", ()):
                assert "off" not in done or (name, (seen.layer, seen.head)) in measured
                seen = seen.after(done)
