"""A lesson as data, and how it is read from its folder's `text.md`.

The file begins with settings in TOML between two lines `+++`: those of `Lesson`. Then Markdown:

    # Title of the lesson
    Its topic in one sentence. Paragraphs of a lesson without steps.

    ## name: Title of a step
    Paragraphs, in the markup of `prose`, and four kinds of fenced blocks: `formula`, a line each,
    shown above them; `code`, shown below; `figure`, what its picture shows, for a screen reader;
    and `toml`, the other settings of `Step`, and `tries`.

    > The question that comes first.
    >
    > - [ ] An answer
    >
    >   The reply to it.
    > - [x] The right one
    >
    >   Its reply.

    # To take away, # A common misreading, # For teachers
    A list; what is wrong, what is right; paragraphs that begin with **Aim:**, **Show:**, **Ask:**.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node

from models.catalogue import PREFIX
from viz.course.inputs import Input, Value

ON_SCREEN = "the numbers on the screen"
SIZES = "the sizes alone"
FILE = "text.md"
MINUTES = 1.6  # of a step
LINES = {"formula": "formulas", "code": "code", "figure": "said"}  # fenced blocks, and their fields
_MARKDOWN = MarkdownIt("zero").enable(["heading", "fence", "list", "blockquote"])


@dataclass(frozen=True)
class Option:
    """An answer to a question, and the reply to whoever chooses it."""

    text: str
    feedback: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """What a reader predicts before the step is shown."""

    text: str
    options: Sequence[Option]


@dataclass(frozen=True)
class Try:
    """A button that sets the figure's inputs; all others return to the start."""

    label: str
    inputs: Mapping[str, Value]


@dataclass(frozen=True)
class Step:
    """One state of the figure, and what is said about it.

    Attributes:
        name: of the step, in the figure's module too.
        title: a few words.
        prose: paragraphs.
        formulas: lines above them.
        code: lines of code below them.
        said: what the picture shows, in sentences, where its tables do not say it.
        tries: buttons below.
        ask: a question that comes first: the step is shown once it is answered.
        controls: names of the inputs that can be changed below the figure.
        inputs: with which its figure opens; what other steps set is as the story starts.
        deeper: whether it is off the main line, under “Going deeper”.
        board: whether its picture is a board of matrices and tables, from the lesson's `BOARDS`.
        computed: what its numbers are computed from; empty where it is as in the lesson.
    """

    name: str
    title: str
    prose: Sequence[str]
    formulas: Sequence[str] = ()
    code: Sequence[str] = ()
    said: Sequence[str] = ()
    tries: Sequence[Try] = ()
    ask: Question | None = None
    controls: Sequence[str] = ()
    inputs: Mapping[str, Value] = field(default_factory=dict)
    deeper: bool = False
    board: bool = False
    computed: str = ""

    def states(self) -> Iterator[Mapping[str, Value]]:
        """The inputs in which it opens, and those that its buttons set."""
        yield self.inputs
        yield from (each.inputs for each in self.tries)


@dataclass(frozen=True)
class Page:
    """A link to another page of the app in a state."""

    label: str
    page: str
    query: Mapping[str, str | int]


@dataclass(frozen=True)
class Misreading:
    """A common misreading beside the right one."""

    wrong: str
    right: str


@dataclass(frozen=True)
class Plan:
    """What a teacher does with a lesson, in Markdown: `ask` has the right answer in bold."""

    aim: str
    show: str
    ask: str


@dataclass(frozen=True)
class Lesson:
    """A lesson of the course.

    Attributes:
        name: of its folder, its figure and its address.
        title: for display.
        line: its topic in one sentence.
        prose: paragraphs below it, where the lesson has a page of its own.
        takeaways: its key points.
        misreading: for readers, and to watch for.
        plan: for teachers.
        steps: of the story, in order; none where the lesson has a page of its own.
        place: in the course; lessons are in ascending order.
        minutes: for reading its main line and trying its buttons.
        needs: names of the earlier lessons that it builds on.
        figure: title of the figure.
        computed: what its numbers are computed from, after “Computed now, from”.
        inputs: of the figure.
        code: dotted names of the functions and classes behind its numbers; without a dot, those of
            its `numbers.py`.
        pages: links to where more can be seen.
        exercise: file in notebooks/exercises with code to write.
        real: pretrained models that its numbers come from, in the catalogue's names.
    """

    name: str
    title: str
    line: str
    prose: Sequence[str]
    takeaways: Sequence[str]
    misreading: Misreading
    plan: Plan
    steps: Sequence[Step]
    place: int
    minutes: int
    needs: Sequence[str] = ()
    figure: str = ""
    computed: str = ON_SCREEN
    inputs: Mapping[str, Input] = field(default_factory=dict)
    code: Sequence[str] = ()
    pages: Sequence[Page] = ()
    exercise: str = ""
    real: Sequence[str] = ()


def read(folder: Path) -> Lesson:
    """The lesson of a folder."""
    _, head, body = (folder / FILE).read_text("utf-8").split("+++\n", 2)
    settings = tomllib.loads(head)
    here = f"{__package__}.{folder.name}.numbers."
    _, (title, story), (_, points), (_, misreading), (_, plan) = sections(parsed_blocks(body), "h1")
    (_, opening), *below = sections(story, "h2")
    steps = [_step(heading, nodes) for heading, nodes in below]
    settings.setdefault("minutes", round(sum(MINUTES for step in steps if not step.deeper)))
    return Lesson(
        name=folder.name,
        title=title,
        line=text_of(opening[0]),
        prose=[*map(text_of, opening[1:])],
        takeaways=[text_of(item.children[0]) for item in points[0].children],
        misreading=Misreading(*map(text_of, misreading)),
        plan=Plan(*(text_of(each).partition(":** ")[2] for each in plan)),
        steps=steps,
        inputs={name: _input(each) for name, each in settings.pop("inputs", {}).items()},
        pages=[Page(**each) for each in settings.pop("pages", ())],
        code=[(PREFIX if "." in each else here) + each for each in settings.pop("code", ())],
        **settings,
    )


def parsed_blocks(markdown: str) -> list[Node]:
    """The blocks of a text."""
    return Node(_MARKDOWN.parse(markdown)).children


def sections(nodes: Sequence[Node], tag: str) -> list[tuple[str, list[Node]]]:
    """The nodes below each heading of a level; first those above all of them."""
    chapters: list[tuple[str, list[Node]]] = [("", [])]
    for node in nodes:
        if node.type == "heading" and node.tag == tag:
            chapters.append((text_of(node), []))
        else:
            chapters[-1][1].append(node)
    return chapters


def text_of(node: Node) -> str:
    """The text of a paragraph or heading, in one line."""
    return node.children[0].content.replace("\n", " ")


def _step(heading: str, nodes: Sequence[Node]) -> Step:
    name, _, title = heading.partition(": ")
    fences = {node.info: node.content for node in nodes if node.type == "fence"}
    fields = tomllib.loads(fences.pop("toml", ""))
    fields["tries"] = [Try(label, inputs) for label, inputs in fields.get("tries", {}).items()]
    fields["prose"] = [text_of(node) for node in nodes if node.type == "paragraph"]
    fields |= {LINES[kind]: content.splitlines() for kind, content in fences.items()}
    for node in nodes:
        if node.type == "blockquote":
            text, options = node.children
            fields["ask"] = Question(text_of(text), [*map(_option, options.children)])
    return Step(name, title, **fields)


def _option(item: Node) -> Option:
    mark, feedback = map(text_of, item.children)
    return Option(mark[4:], feedback, right=mark.startswith("[x]"))


def _input(written: dict[Any, Any]) -> Input:
    """An input, whose kind is the first name; choices without texts say what they are."""
    (kind, start), *more = written.items()
    about = dict(more)
    if isinstance(choices := about.get("choices"), list):
        values = range(about["low"], about["high"] + 1) if kind == "count" else choices
        about["choices"] = dict(zip(map(str, values), choices, strict=True))
    return Input(kind, start, **about)
