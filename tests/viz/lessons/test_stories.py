"""Every story: its numbers can be computed, its texts name them, its figure draws every step."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.javascript import node
from viz.api import figures
from viz.lessons import course, prose
from viz.lessons.inputs import Count, OneOf, Within
from viz.lessons.story import Lesson, Step

ROOT = Path(__file__).parents[3]
ASSETS = ROOT / "viz" / "components" / "headscope_views" / "assets"
DRAW = ROOT / "tests" / "js" / "draw_figures.mjs"
STORIES = [each.name for each in course.STORIES]


def numbers(lesson: Lesson, **changes: Any) -> dict[str, Any]:
    """The numbers of a lesson's figure, asked for as the browser asks."""
    return figures.numbers(lesson.name, [(key, written(each)) for key, each in changes.items()])()


def written(value: Any) -> str:
    """An input as the browser sends it."""
    parts = value if isinstance(value, list | tuple) else [value]
    return ";".join(map(str, parts))


def start(lesson: Lesson) -> dict[str, Any]:
    return {name: each.start for name, each in lesson.inputs.items()}


def at(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found


def texts(step: Step) -> Iterator[str]:
    yield from (*step.prose, *step.formulas, *step.code)
    if step.ask is not None:
        yield step.ask.text
        yield from (option.feedback for option in step.ask.options)


def board(step: Step) -> dict[str, str]:
    """The parameter with which the browser asks for the step's board."""
    return {"board": step.name} if step.board else {}


@pytest.mark.parametrize("name", STORIES)
def test_the_texts_name_numbers_that_exist(name: str) -> None:
    lesson = course.lesson(name)
    for step in lesson.steps:
        found = numbers(lesson, **board(step), **step.inputs)
        json.dumps(found, allow_nan=False)
        for text in texts(step):
            for part in prose.parts(text):
                if isinstance(part, dict) and part["tag"] == "number":
                    format(at(found, part["path"]), part["format"])


@pytest.mark.parametrize("name", STORIES)
def test_what_steps_open_with_and_buttons_set_are_inputs(name: str) -> None:
    lesson = course.lesson(name)
    for step in lesson.steps:
        for inputs in (step.inputs, *(each.inputs for each in step.tries)):
            assert inputs.keys() <= lesson.inputs.keys()


@pytest.mark.parametrize(
    ("name", "step", "path"),
    [
        ("sampling", "temperature", "warm"),
        ("sampling", "cut", "cut"),
        ("head_layer", "temperature", "sampled_largest"),
        ("decoder", "edge", "fell.now"),
        ("decoder", "cheat", "mean_share"),
        ("vision", "shuffle", "sequence"),
        ("both", "write", "written"),
        ("both", "kinds", "written"),
    ],
)
def test_a_step_that_tells_of_an_effect_opens_with_it(name: str, step: str, path: str) -> None:
    lesson = course.lesson(name)
    (opened,) = (each for each in lesson.steps if each.name == step)
    before, after = (at(numbers(lesson, **each), path) for each in ({}, opened.inputs))
    assert after != before


@pytest.mark.parametrize("name", STORIES)
def test_every_question_has_one_right_answer_and_feedback_for_each(name: str) -> None:
    asked = [step.ask for step in course.lesson(name).steps if step.ask is not None]
    assert asked, "a story asks for a prediction before a key result"
    for question in asked:
        assert sum(option.right for option in question.options) == 1
        assert all(option.feedback for option in question.options)


@pytest.mark.parametrize("name", STORIES)
def test_the_figure_draws_every_step(name: str, tmp_path: Path) -> None:
    """It names the steps of its story; marks with keys that differ, inside the picture."""
    lesson = course.lesson(name)
    cases = []
    for step in lesson.steps:
        for change in (step.inputs, *(each.inputs for each in step.tries)):
            asks = {"trained": "yes"} if step.name == "trained" else {}
            inputs = {**start(lesson), **change}
            found = numbers(lesson, **change, **asks, **board(step))
            boards = {step.name: found.pop("board")} if step.board else {}
            cases.append(
                {
                    "figure": name,
                    "step": step.name,
                    "steps": [each.name for each in lesson.steps],
                    "boards": boards,
                    "inputs": inputs,
                    "numbers": found,
                }
            )
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    drawn = subprocess.run([node(), DRAW, path], capture_output=True, text=True)
    assert drawn.returncode == 0, drawn.stdout + drawn.stderr
    assert json.loads(drawn.stdout)["drawn"] == len(cases)


@pytest.mark.parametrize("name", STORIES)
def test_controls_offer_what_the_server_accepts(name: str) -> None:
    """The ends of a slider and the options of a choice, in the figure's module."""
    code = (ASSETS / "figures" / f"{name}.js").read_text("utf-8")
    for control in re.findall(r"\{ kind: \"(?:slider|choice)\", [^\n]*", code):
        name_ = re.search(r'input: "(\w+)"', control)
        assert name_
        about = course.lesson(name).inputs[name_[1]]
        ends = re.search(r"min: (-?[\d.]+), max: (-?[\d.]+)", control)
        if ends:
            assert isinstance(about, Count | Within)
            assert about.low <= float(ends[1]) < float(ends[2]) <= about.high, control
        elif isinstance(about, OneOf):
            assert set(re.findall(r'\["(\w[\w.]*)", "', control)) <= set(about.choices), control
