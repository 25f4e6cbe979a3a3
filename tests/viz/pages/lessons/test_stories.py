"""Every story: its numbers can be computed, its texts name them, its figure draws every step."""

import json
import re
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.javascript import node
from viz.api import figures
from viz.pages.lessons import course, prose
from viz.pages.lessons.story import SELECTED, Step, Story

ROOT = Path(__file__).parents[4]
ASSETS = ROOT / "viz" / "components" / "headscope_views" / "assets"
LESSONS = ROOT / "viz" / "pages" / "lessons"
STORIES: dict[str, Story] = {
    lesson.name: import_module(f"viz.pages.lessons.{lesson.name}.story").STORY
    for lesson in course.COURSE
    if (LESSONS / lesson.name / "story.py").exists()
}
DRAW = ROOT / "tests" / "js" / "draw_figures.mjs"


def numbers(story: Story, **changes: Any) -> dict[str, Any]:
    """The numbers of a story's figure, asked for as the browser asks."""
    inputs = {**story.inputs, **changes}
    return figures.numbers(story.figure, [(name, written(each)) for name, each in inputs.items()])()


def written(value: Any) -> str:
    """An input as the browser sends it."""
    return (
        value
        if isinstance(value, str)
        else ";".join(map(str, value if isinstance(value, list | tuple) else [value]))
    )


def at(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found


def texts(step: Step) -> Iterator[str]:
    yield from (*step.prose, *step.formulas, *step.code)
    if step.ask is not None:
        yield step.ask.text
        yield from (option.feedback for option in step.ask.options)


def test_every_figure_has_a_story_and_a_browser_module() -> None:
    assert {story.figure for story in STORIES.values()} == set(figures.FIGURES)
    listed = re.findall(r'import\("\./(\w+)\.js"\)', (ASSETS / "figures/index.js").read_text())
    assert set(listed) == set(figures.FIGURES)


@pytest.mark.parametrize("name", STORIES)
def test_the_frame_draws_the_story_so_that_print_view_has_its_figures(name: str) -> None:
    code = (LESSONS / name / "page.py").read_text()
    assert code.count("frame.story(NAME, STORY)") == 1
    assert ".show(NAME, STORY" not in code


@pytest.mark.parametrize("name", STORIES)
def test_the_texts_name_numbers_that_exist(name: str) -> None:
    story = STORIES[name]
    found = numbers(story)
    json.dumps(found, allow_nan=False)
    for step in story.steps:
        for text in texts(step):
            for part in prose.parts(text):
                if isinstance(part, dict) and part["tag"] == "number":
                    format(at(found, part["path"]), part["format"])


@pytest.mark.parametrize("name", STORIES)
def test_what_a_step_opens_with_and_what_there_is_to_try_can_be_computed(name: str) -> None:
    for step in STORIES[name].steps:
        for inputs in (step.inputs, *(each.inputs for each in step.tries)):
            assert inputs.keys() <= STORIES[name].inputs.keys()
            json.dumps(numbers(STORIES[name], **inputs), allow_nan=False)


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
    story = STORIES[name]
    (opened,) = (each for each in story.steps if each.name == step)
    before, after = (at(numbers(story, **each), path) for each in ({}, opened.inputs))
    assert after != before


@pytest.mark.parametrize("name", STORIES)
def test_every_question_has_one_right_answer_and_feedback_for_each(name: str) -> None:
    asked = [step.ask for step in STORIES[name].steps if step.ask is not None]
    assert asked, "a story asks for a prediction before a key result"
    for question in asked:
        assert sum(option.right for option in question.options) == 1
        assert all(option.feedback for option in question.options)


@pytest.mark.parametrize("name", STORIES)
def test_the_figure_knows_the_steps_of_its_story(name: str) -> None:
    story = STORIES[name]
    code = (ASSETS / "figures" / f"{story.figure}.js").read_text()
    named = re.findall(
        r'reached\("([^"]+)"\)|\bstep === "([^"]+)"|\b(?:from|until): "([^"]+)"', code
    )
    steps = [step.name for step in story.steps]
    assert {name for found in named for name in found if name} <= set(steps)
    assert len(steps) == len(set(steps))


def test_every_figure_draws_every_step(tmp_path: Path) -> None:
    """Marks with keys that differ, finite numbers inside the picture, colours as #rrggbb."""
    cases = []
    for story in STORIES.values():
        changes = [{}, *(each.inputs for step in story.steps for each in (step, *step.tries))]
        changes += [{"trained": "yes"}] * ("trained" in story.inputs)
        cases += [
            {
                "figure": story.figure,
                "steps": [step.name for step in story.steps],
                "inputs": {**story.inputs, **change},
                "numbers": numbers(story, **change),
            }
            for change in changes
        ]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    found = subprocess.run([node(), DRAW, path], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert json.loads(found.stdout)["drawn"] == sum(len(case["steps"]) for case in cases)


@pytest.mark.parametrize("name", [lesson.name for lesson in course.COURSE])
def test_no_setting_of_a_lesson_has_the_name_of_a_storys_selection(name: str) -> None:
    params = import_module(f"viz.pages.lessons.{name}.page").PARAMS
    assert not {param.name for param in params} & SELECTED
