"""What the registry holds for the attention views."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Trace
    from viz.image import Picture
    from viz.pack import Thumbs

Code = Callable[[int, int | str], str]
Predict = Callable[[int, str, int | None], dict[str, Any]]


def no_predictions(site: int, direction: str, token: int | None) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class TextEntry:
    """A trace of a text and all that its view asks for.

    Attributes:
        shown: what the view draws: a trace, or a view of it by whole words.
        thumbs: every head in small.
        code: lines of Python that give the weights of a site and head.
        predict: the probabilities at a token, as the `predictions` route answers; {} if the
            network gives none.
    """

    shown: "Trace | View"
    thumbs: "Thumbs"
    code: Code
    predict: Predict = no_predictions


@dataclass(frozen=True, eq=False)
class ImageEntry:
    """A trace of a picture and all that its view asks for.

    Attributes:
        shown: the trace.
        picture: what the network saw, as a file.
        patch: pixels along a patch's side.
        dim: width of the network.
        order: in which order the numbers of a patch are unrolled.
        code: as for `TextEntry`.
    """

    shown: "Trace"
    picture: "Picture"
    patch: int
    dim: int
    order: str
    code: Code
    totals: dict[int, Any] = field(default_factory=dict)


def trace_bytes(trace: "Trace") -> int:
    """Bytes of the tensors that a trace's patterns and output keep."""
    tensors = [tensor for p in trace.patterns for tensor in (p.q, p.k, p.v)]
    tensors.append(trace.output.values)
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
