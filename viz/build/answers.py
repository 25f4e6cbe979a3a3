"""What the browser asks about the picture of a network: cards, numbers of them, and code."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from viz.api.endpoint import ResultKind, endpoint
from viz.api.entries import TraceEntry
from viz.api.registry import Answers
from viz.pack import message

if TYPE_CHECKING:
    from viz.build.follow import Part
    from viz.build.numbers import Number
    from viz.build.picture import Picture

Answer = TypeVar("Answer")


class ShapesEntry:
    """A network that has not run: its shapes, parameters and FLOPs, which take no memory."""

    kind: ResultKind = "build"

    def __init__(self, picture: "Picture") -> None:
        self.picture = picture
        self.answers = Answers()

    @property
    def heads(self) -> list[int]:
        """How many heads each attention layer has."""
        return [pattern.heads for pattern in self.picture.patterns]


KINDS: tuple[ResultKind, ...] = ("text", "image", "build")
Entry = TraceEntry | ShapesEntry


@endpoint("card", *KINDS, slow=True)
def card(entry: Entry, at: str = "") -> bytes:
    """A card, with its numbers pooled to the screen."""
    from viz.build.screen import on_screen

    picture = picture_of(entry)
    try:
        return message(on_screen(_in_pass(entry, lambda: picture.card(at)), picture))
    except ValueError as error:  # for a part that only another network has
        return message({"why": " ".join(str(error).split())})


@endpoint("cell", *KINDS, slow=True)
def cell(entry: Entry, at: str, matrix: str, row: int, col: int) -> "Number":
    """One number of a card, and the operation that it comes from."""
    from analysis.target import name_of
    from viz.build.numbers import number

    picture = picture_of(entry)
    if isinstance(entry, ShapesEntry):
        return number(picture, at, matrix, row, col)
    word = partial(name_of, entry.model, entry.trace.output)
    return _in_pass(entry, lambda: number(picture, at, matrix, row, col, word))


@endpoint("lines", *KINDS, slow=True)
def lines(entry: Entry, at: str = "") -> dict[str, Any]:
    """The lines that run in a card."""
    from viz.build.screen import lines_of

    picture = picture_of(entry)
    return lines_of(_in_pass(entry, lambda: picture.card(at)).source)


@endpoint("follow", slow=True)
def follow(entry: TraceEntry, token: int) -> "list[Part]":
    """A token on its way up the stream."""
    from viz.build.follow import follow

    with entry.forward_pass():
        return follow(entry.trace, token, entry.model)


def picture_of(entry: Entry) -> "Picture":
    """The picture of a result, made once."""
    from viz.build.picture import Picture

    if isinstance(entry, ShapesEntry):
        return entry.picture
    trace = entry.trace
    return entry.answers.once("build", lambda: Picture.of(trace))


def _in_pass(entry: Entry, ask: Callable[[], Answer]) -> Answer:
    """An answer that may take further passes of the network."""
    with nullcontext() if isinstance(entry, ShapesEntry) else entry.forward_pass():
        return ask()
