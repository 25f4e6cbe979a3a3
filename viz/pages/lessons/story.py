"""A lesson as a story: paragraphs beside a living figure, one state of it for each step.

The texts are Python's, the step and the figure's inputs belong to the browser, which keeps them in
the link, and the numbers come from `viz.api.figures`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viz import theme
from viz.pages.lessons import prose
from viz.pages.state import params as link
from viz.pages.state import session

SHADES = 33  # colours of each scale that are sent
SELECTION = (link.number("story", 0, 0, 99), link.text("figure", ""))  # of a story, in a link
SELECTED = frozenset(param.name for param in SELECTION)
Value = float | str | Sequence[float]


@dataclass(frozen=True)
class Option:
    """An answer to a question, and what is said to whoever chooses it."""

    text: str
    feedback: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """What a reader predicts before the step is shown.

    Attributes:
        text: of the question, in the markup of `prose`.
        options: to choose from.
    """

    text: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Try:
    """A button that sets the figure's inputs; all others return to the start."""

    label: str
    inputs: Mapping[str, Value]


@dataclass(frozen=True)
class Step:
    """One state of the figure, and what is said about it.

    Attributes:
        name: under which the figure knows it.
        title: a few words.
        prose: paragraphs, in the markup of `prose`.
        formulas: lines above them, in the same markup.
        code: lines of code below them, in the same markup.
        tries: buttons below.
        ask: a question that comes first: the step is shown once it is answered.
        inputs: with which its figure opens; what other steps set is as the story starts.
    """

    name: str
    title: str
    prose: tuple[str, ...]
    formulas: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    tries: tuple[Try, ...] = ()
    ask: Question | None = None
    inputs: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    """A story.

    Attributes:
        figure: name of the figure, in `viz.api.figures.FIGURES`.
        title: of the figure.
        inputs: of the figure at the start.
        steps: in order.
    """

    figure: str
    title: str
    inputs: Mapping[str, Value]
    steps: tuple[Step, ...] = field(default=())


def show(page: str, story: Story, *, paper: bool = False) -> None:
    """Draws a story; once per page.

    Args:
        page: name of the lesson.
        story: to draw.
        paper: whether it is drawn as it is printed.
    """
    from headscope_views import view

    props = {
        **session.props(page, SELECTION),
        "title": story.title,
        "figure": story.figure,
        "paper": paper,
        "inputs": _plain(story.inputs),
        "steps": [_step(step) for step in story.steps],
        "theme": {mode: _theme(mode) for mode in theme.MODES},
    }
    del props["link"]  # the settings' part: the lesson's frame sends it
    view("story", props, key=f"{page}_story")


def _step(step: Step) -> dict[str, Any]:
    return {
        "name": step.name,
        "title": step.title,
        "inputs": _plain(step.inputs),
        "formulas": [prose.parts(line) for line in step.formulas],
        "prose": [prose.parts(paragraph) for paragraph in step.prose],
        "code": [prose.parts(line) for line in step.code],
        "tries": [{"label": each.label, "inputs": _plain(each.inputs)} for each in step.tries],
        "ask": _question(step.ask),
    }


def _question(asked: Question | None) -> dict[str, Any] | None:
    if asked is None:
        return None
    options = [
        {"text": each.text, "right": each.right, "feedback": prose.parts(each.feedback)}
        for each in asked.options
    ]
    return {"text": prose.parts(asked.text), "options": options}


def _plain(inputs: Mapping[str, Value]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str | int | float) else [*value]
        for name, value in inputs.items()
    }


def _theme(mode: theme.Mode) -> dict[str, Any]:
    """The colours of a figure, as `StoryTheme` in types.d.ts defines them."""
    colours = theme.COLOURS[mode]
    return {
        **{name: getattr(colours, name) for name in ("background", "surface", "text", "muted")},
        "line": colours.line,
        "primary": colours.primary,
        "heads": list(colours.heads),
        "terms": theme.TERMS[mode],
        "weights": _shades(theme.sequential(mode)),
        "signed": _shades(theme.diverging(mode)),
    }


def _shades(ramp: Any) -> list[str]:
    last = len(ramp) - 1
    return [
        "#" + "".join(f"{part:02x}" for part in ramp[round(i * last / (SHADES - 1))])
        for i in range(SHADES)
    ]
