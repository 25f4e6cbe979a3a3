"""Draws a lesson's story: the props of its browser view."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from headscope_views import view

from viz import theme
from viz.course import real
from viz.course.reading import SIZES, Lesson, Step
from viz.pages.state import params as link
from viz.pages.state import session

SELECTION = (  # of a story, in a link
    link.number("story", 0, 0, 99),
    link.text("figure", ""),
    link.choice("present", "no", ("no", "yes")),
)
SELECTED = frozenset(param.name for param in SELECTION)


def show(lesson: Lesson, listed: Mapping[str, Any]) -> None:
    """Draws a story; once per page.

    Args:
        lesson: to draw.
        listed: all lessons, for the browser.
    """
    props = {
        **session.props(lesson.name, SELECTION),
        **listed,
        "answer": real.first(lesson.name),
        "title": lesson.figure,
        "inputs": {name: each.start for name, each in lesson.inputs.items()},
        "steps": [_step(step, lesson) for step in lesson.steps],
        "theme": themes(),
    }
    del props["link"]  # the settings' part: the lesson's frame sends it
    view("story", props, key=f"{lesson.name}_story")


def _step(step: Step, lesson: Lesson) -> dict[str, Any]:
    return {
        **vars(step),
        "sizes": step.computed == SIZES,
        "computed": f"Computed now, from {step.computed or lesson.computed}.",
        "controls": [lesson.inputs[name].control(name) for name in step.controls],
    }


def themes() -> dict[str, Any]:
    """The colours of figures in each mode."""
    return {mode: _theme(mode) for mode in theme.MODES}


def _theme(mode: theme.Mode) -> dict[str, Any]:
    """The colours of a figure, as `StoryTheme` in types.d.ts defines them."""
    ramps = {"weights": theme.sequential(mode), "signed": theme.diverging(mode)}
    shades = {name: [f"#{bytes(each).hex()}" for each in ramp[::5]] for name, ramp in ramps.items()}
    return {**asdict(theme.COLOURS[mode]), "terms": theme.TERMS[mode], **shades}
