"""Registry entries of the attention views."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.survey import Survey
    from analysis.view import View
    from models.model import Model
    from models.trace import Trace
    from viz.image import Picture

THUMB = 40  # maximum cells per side of a thumbnail

Code = Callable[[int, int | str], str]
Predict = Callable[[int, str, int | None], dict[str, Any]]


def no_predictions(site: int, direction: str, token: int | None) -> dict[str, Any]:
    return {}


class Surveys:
    """The surveys of a trace's sites, each computed once, when it is first asked for."""

    def __init__(self) -> None:
        self._found: dict[int, Survey] = {}
        self._locks: defaultdict[int, Lock] = defaultdict(Lock)

    def get(self, site: int) -> "Survey | None":
        """The survey of a site if it is known."""
        return self._found.get(site)

    def once(self, site: int, make: "Callable[[], Survey]") -> "Survey":
        """The survey of a site, computed if necessary; concurrent callers wait for it."""
        with self._locks[site]:
            if site not in self._found:
                self._found[site] = make()
            return self._found[site]


@dataclass(frozen=True, eq=False)
class TextEntry:
    """A trace of a text, with everything its view requests.

    Attributes:
        shown: the trace, or a `View` of it by whole words.
        code: Python code for the weights of a site and head.
        predict: the predictions at a token, in the format of the `predictions` route; {} if the
            network makes none.
        forward_pass: what a further pass of the network runs in.
        surveys: of its sites, so far.
        answers: what was computed for all heads together, by the name of the request.
        opened: the model, for analyses that run it again, its input and the text of its decoder;
            None if it cannot be run.
    """

    shown: "Trace | View"
    code: Code
    predict: Predict = no_predictions
    forward_pass: Callable[[], AbstractContextManager[None]] = nullcontext
    surveys: "Surveys" = field(default_factory=Surveys)
    answers: dict[Hashable, Any] = field(default_factory=dict)
    opened: Callable[[], "tuple[Model, Any, Any]"] | None = None


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
        predict: as for `TextEntry`.
        mark: row and column of the patch where the network's answer places an object; None if its
            answer is no place.
    """

    shown: "Trace"
    picture: "Picture"
    patch: int
    dim: int
    order: str
    code: Code
    source: str = "image"
    predict: Predict = no_predictions
    mark: tuple[int, int] | None = None
    totals: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Download:
    """A file to be saved, not shown.

    Attributes:
        data: its contents.
        kind: media type.
        name: suggested to the user; letters, digits, dots and hyphens.
    """

    data: bytes
    kind: str
    name: str


def survey_bytes(entry: TextEntry) -> int:
    """Bytes that the surveys of all sites will take."""
    sites = entry.shown.sites
    return sum(4 * (s.heads + 2) * THUMB**2 + 4 * s.heads * s.queries for s in sites)


def trace_bytes(trace: "Trace") -> int:
    """Bytes of the tensors in a trace's patterns and output."""
    tensors = [tensor for p in trace.patterns for tensor in (p.q, p.k, p.v)]
    tensors.append(trace.output.values)
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
