"""Registry entries of the attention views."""

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.view import View
    from models.model import Model
    from models.trace import Trace
    from viz.image import Picture
    from viz.pack import Thumbs

Code = Callable[[int, int | str], str]
Predict = Callable[[int, str, int | None], dict[str, Any]]


def no_predictions(site: int, direction: str, token: int | None) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class TextEntry:
    """A trace of a text, with everything its view requests.

    Attributes:
        shown: the trace, or a `View` of it by whole words.
        thumbs: thumbnails of every head.
        code: Python code for the weights of a site and head.
        predict: the predictions at a token, in the format of the `predictions` route; {} if the
            network makes none.
        answers: what was computed for all heads together, by the name of the request.
        opened: opens the model, for analyses that run it again: gives it, its input and the text
            of its decoder. None if it cannot be run.
    """

    shown: "Trace | View"
    thumbs: "Thumbs"
    code: Code
    predict: Predict = no_predictions
    answers: dict[Hashable, Any] = field(default_factory=dict)
    opened: Callable[[], "AbstractContextManager[tuple[Model, Any, Any]]"] | None = None


@dataclass(frozen=True, eq=False)
class ImageEntry:
    """A trace of a picture, with everything its view requests.

    Attributes:
        shown: the trace.
        picture: the preprocessed picture, encoded as a file.
        patch: patch size in pixels.
        dim: width of the network.
        order: order of the numbers in a flattened patch.
        code: as for `TextEntry`.
        source: the picture in that code.
    """

    shown: "Trace"
    picture: "Picture"
    patch: int
    dim: int
    order: str
    code: Code
    source: str = "image"
    totals: dict[int, Any] = field(default_factory=dict)


def trace_bytes(trace: "Trace") -> int:
    """Bytes of the tensors in a trace's patterns and output."""
    tensors = [tensor for p in trace.patterns for tensor in (p.q, p.k, p.v)]
    tensors.append(trace.output.values)
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
