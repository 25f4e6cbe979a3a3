"""The numbers that come out of a network without words: those that stand for its whole input."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from viz.api.endpoint import endpoint
from viz.api.entries import TraceEntry

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

CLASS = "[CLS]"


@dataclass(frozen=True)
class Vector:
    """The vector of an input, of length 1.

    Attributes:
        values: its numbers.
        of: what the input is.
        like: after edits its cosine with that before them.
    """

    values: "Float[Tensor, 'number']"
    of: str
    like: float | None


@endpoint("vector")
def vector(entry: TraceEntry) -> Vector:
    """The vector of the input, with length 1, and after edits its cosine with that before them.

    Raises:
        ValueError: for a network that answers with words or classes.
    """
    numbers = _numbers(entry)
    before = None if entry.before is None else _numbers(entry.before())
    like = None if before is None else float(numbers.double() @ before.double())
    return Vector(numbers, _noun(entry), like)


def _numbers(entry: TraceEntry) -> "Tensor":
    """The state of the class token of a picture, else the mean of all tokens' states."""
    from analysis.target import embedding_of

    output = entry.trace.output
    whole = embedding_of(output)
    states = output.of_item()
    if not entry.patches or states.ndim != 2 or entry.trace.tokens[0].labels[0] != CLASS:
        return whole
    return states[0] / states[0].norm()


def _noun(entry: TraceEntry) -> str:
    if entry.patches:
        return "picture"
    return "sentence" if entry.trace.sound is None else "recording"
