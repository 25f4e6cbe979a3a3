"""A lesson as data, and how it is read from its folder's `text.md`.

The file begins with settings in TOML between two lines `+++`: those of `Lesson`. Then Markdown:

    # Title of the lesson
    Its topic in one sentence. Paragraphs of a lesson without steps.

    ## name: Title of a step
    Paragraphs, in the markup of `prose`, and four kinds of fenced blocks: `formula`, a line each,
    shown above them; `code`, shown below; `figure`, what its picture shows, for a screen reader;
    and `toml`, the other settings of `Step`.

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

from models.catalogue import PREFIX
from viz.course.inputs import Input, Value
from viz.course.prose import Node, Part, blocks, parts, sections, text_of

FILE = "text.md"
MINUTES = 1.6  # of a step
LINES = {"formula": "formulas", "code": "code"}  # fenced blocks, and their fields
Prose = Sequence[Part]


@dataclass(frozen=True)
class Step:
    """One state of the figure, and what is said about it, as `StoryStep` in types.d.ts has it.

    Attributes:
        name: of the step, in the figure's module too.
        title: a few words.
        prose: paragraphs.
        formulas: lines above them.
        code: lines of code below them.
        said: what the picture shows, where its tables do not say it.
        tries: buttons below: the label, and inputs that are set; all others return to the start.
        ask: a question that comes first, its options, each with a reply, and which one is right.
        controls: names of the inputs that can be changed below the figure.
        inputs: with which its figure opens; what other steps set is as the story starts.
        deeper: whether it is off the main line, under “Going deeper”.
        board: whether its picture is a board of matrices and tables, from the lesson's `BOARDS`.
        computed: what its numbers are computed from; empty where it is as in the lesson.
    """

    name: str
    title: str
    prose: Sequence[Prose]
    formulas: Sequence[Prose] = ()
    code: Sequence[Prose] = ()
    said: Prose = ()
    tries: Sequence[Mapping[str, Any]] = ()
    ask: Mapping[str, Any] | None = None
    controls: Sequence[str] = ()
    inputs: Mapping[str, Value] = field(default_factory=dict)
    deeper: bool = False
    board: bool = False
    computed: str = ""

    def states(self) -> Iterator[Mapping[str, Value]]:
        """The inputs in which it opens, and those that its buttons set."""
        yield self.inputs
        yield from (each["inputs"] for each in self.tries)


@dataclass(frozen=True)
class Lesson:
    """A lesson of the course. Texts are in the markup of `prose`.

    Attributes:
        name: of its folder, its figure and its address.
        title: for display.
        line: its topic in one sentence.
        prose: paragraphs below it, where the lesson has a page of its own.
        takeaways: its key points.
        misreading: a common one, and the right one.
        plan: what a teacher does: "aim", "show", and "ask" with the right answer in bold.
        steps: of the story, in order; none where the lesson has a page of its own.
        place: in the course; lessons are in ascending order.
        minutes: for reading its main line and trying its buttons.
        needs: names of the earlier lessons that it builds on.
        figure: title of the figure.
        computed: what its numbers are computed from, after “Computed now, from”.
        inputs: of the figure.
        code: dotted names of the functions and classes behind its numbers; without a dot, those of
            its `numbers.py`.
        pages: links to where more can be seen: "label", "page" and "query".
        exercise: file in notebooks/exercises with code to write.
        real: pretrained models that its numbers come from, in the catalogue's names.
        old_steps: names of its steps in the order in which older links number them; () for the
            order of now.
    """

    name: str
    title: str
    line: str
    prose: Sequence[str]
    takeaways: Sequence[str]
    misreading: Sequence[str]
    plan: Mapping[str, str]
    steps: Sequence[Step]
    place: int
    minutes: int
    needs: Sequence[str] = ()
    figure: str = ""
    computed: str = "the numbers on the screen"
    inputs: Mapping[str, Input] = field(default_factory=dict)
    code: Sequence[str] = ()
    pages: Sequence[Mapping[str, Any]] = ()
    exercise: str = ""
    real: Sequence[str] = ()
    old_steps: Sequence[str] = ()

    def step_named(self, text: str) -> str:
        """The name of a step from a link, where older links have its number.

        Raises:
            ValueError: for a step that is not there.
        """
        names = [step.name for step in self.steps]
        if text.isdecimal():
            text = dict(enumerate(self.old_steps or names)).get(int(text), "")
        return names[names.index(text)]


def read(folder: Path) -> Lesson:
    """The lesson of a folder."""
    _, head, body = (folder / FILE).read_text("utf-8").split("+++\n", 2)
    settings = tomllib.loads(head)
    here = f"{__package__}.{folder.name}.numbers."
    _, (title, story), (_, points), (_, misreading), (_, plan) = sections(blocks(body), "h1")
    (_, opening), *below = sections(story, "h2")
    steps = [_step(heading, nodes) for heading, nodes in below]
    settings.setdefault("minutes", round(sum(MINUTES for step in steps if not step.deeper)))
    line, *prose = map(text_of, opening)
    answers = (text_of(each).partition(":** ")[2] for each in plan)
    return Lesson(
        name=folder.name,
        title=title,
        line=line,
        prose=prose,
        takeaways=[*map(text_of, points[0].children)],
        misreading=[*map(text_of, misreading)],
        plan=dict(zip(("aim", "show", "ask"), answers, strict=True)),
        steps=steps,
        inputs={name: _input(each) for name, each in settings.pop("inputs", {}).items()},
        code=[(PREFIX if "." in each else here) + each for each in settings.pop("code", ())],
        **settings,
    )


def _step(heading: str, nodes: Sequence[Node]) -> Step:
    name, _, title = heading.partition(": ")
    fences = {node.info: node.content for node in nodes if node.type == "fence"}
    fields = tomllib.loads(fences.pop("toml", ""))
    tries = fields.pop("tries", {}).items()
    for node in nodes:
        if node.type == "blockquote":
            asked, options = node.children
            options = [_option(*map(text_of, item.children)) for item in options.children]
            fields["ask"] = {"text": parts(text_of(asked)), "options": options}
    return Step(
        name,
        title,
        [parts(text_of(node)) for node in nodes if node.type == "paragraph"],
        said=parts(fences.pop("figure", "").strip().replace("\n", " ")),
        tries=[{"label": label, "inputs": inputs} for label, inputs in tries],
        **{LINES[kind]: [*map(parts, text.splitlines())] for kind, text in fences.items()},
        **fields,
    )


def _option(mark: str, feedback: str) -> dict[str, Any]:
    return {"text": mark[4:], "right": mark.startswith("[x]"), "feedback": parts(feedback)}


def _input(written: dict[Any, Any]) -> Input:
    """An input, whose kind is the first name; choices without texts say what they are."""
    (kind, start), *more = written.items()
    about = dict(more)
    if isinstance(choices := about.get("choices"), list):
        values = range(about["low"], about["high"] + 1) if kind == "count" else choices
        about["choices"] = dict(zip(map(str, values), choices, strict=True))
    return Input(kind, start, **about)
