"""A lesson as data: paragraphs beside a living figure, one state of it for each step.

The step and the figure's inputs belong to the browser, which keeps them in the link; the figure's
numbers come from `viz.api.figures`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from viz.lessons.inputs import Input, Value

ON_SCREEN = "the numbers on the screen"
SMOLLM2 = "these weights: those of SmolLM2, trained on two trillion tokens of text"
SIZES = "the sizes alone"
NETWORK = "network"  # the input that chooses between the networks of a figure


@dataclass(frozen=True)
class Option:
    """An answer to a question, and the reply to whoever chooses it."""

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
class Other:
    """What a step says while its figure shows another network than at the start.

    Attributes:
        network: of the choices of the input `network`.
        computed: what its numbers are computed from.
        prose: paragraphs in place of the step's.
        tries: buttons in place of the step's.
    """

    network: str
    computed: str
    prose: tuple[str, ...]
    tries: tuple[Try, ...] = ()


@dataclass(frozen=True)
class Step:
    """One state of the figure, and what is said about it.

    Attributes:
        name: of the step, in the figure's module too.
        title: a few words.
        prose: paragraphs, in the markup of `prose`.
        formulas: lines above them, in the same markup.
        code: lines of code below them, in the same markup.
        tries: buttons below.
        ask: a question that comes first: the step is shown once it is answered.
        inputs: with which its figure opens; what other steps set is as the story starts.
        board: whether its picture is a board of matrices and tables, from the lesson's `BOARDS`.
        computed: what its numbers are computed from; empty where it is as in the lesson.
        other: what it says of the figure's other network, to which a switch leads.
    """

    name: str
    title: str
    prose: tuple[str, ...]
    formulas: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    tries: tuple[Try, ...] = ()
    ask: Question | None = None
    inputs: Mapping[str, Value] = field(default_factory=dict)
    board: bool = False
    computed: str = ""
    other: Other | None = None

    def states(self) -> Iterator[Mapping[str, Value]]:
        """The inputs in which it opens, of either network, and those that its buttons set."""
        yield self.inputs
        yield from (each.inputs for each in self.tries)
        if self.other is not None:
            yield {**self.inputs, NETWORK: self.other.network}
            yield from (each.inputs for each in self.other.tries)


@dataclass(frozen=True)
class Page:
    """A link to another page of the app in a state.

    Attributes:
        label: of the link.
        page: its name.
        query: its settings and selection.
    """

    label: str
    page: str
    query: Mapping[str, str | int]


@dataclass(frozen=True)
class Misreading:
    """A common misreading beside the right one, in the markup of `viz.pages.lessons.markup`."""

    wrong: str
    right: str


@dataclass(frozen=True)
class Plan:
    """What a teacher does with a lesson, in Markdown.

    Attributes:
        aim: of the lesson.
        show: what to show.
        ask: a question to the class, the right answer in bold.
    """

    aim: str
    show: str
    ask: str


@dataclass(frozen=True)
class Lesson:
    """A lesson of the course.

    Attributes:
        name: of its folder, its figure and its address.
        place: in the course; lessons are in ascending order.
        title: for display.
        icon: name of a Material Symbol.
        line: its topic in one sentence.
        parts: of the map that it explains, as in viz/web/map/parts.js.
        needs: names of the earlier lessons that it builds on.
        minutes: for reading it and trying its buttons.
        takeaways: its key points, in the same markup.
        misreading: for readers, and to watch for.
        plan: for teachers.
        figure: title of the figure; empty where the lesson is no story.
        computed: what its numbers are computed from, after “Computed now, from”.
        inputs: of the figure.
        steps: of the story, in order.
        code: dotted names of the functions and classes behind its numbers.
        pages: links to where more can be seen.
        exercise: file in notebooks/exercises with code to write.
        real: pretrained models that its `real.py` takes numbers from, in the catalogue's names.
    """

    name: str
    place: int
    title: str
    icon: str
    line: str
    parts: tuple[str, ...]
    needs: tuple[str, ...]
    minutes: int
    takeaways: tuple[str, ...]
    misreading: Misreading
    plan: Plan
    figure: str = ""
    computed: str = ON_SCREEN
    inputs: Mapping[str, Input] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    code: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    exercise: str = ""
    real: tuple[str, ...] = ()
