"""Registry entries of the attention views."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from viz.api.answers import Answers

if TYPE_CHECKING:
    from analysis.view import View
    from models.model import Model
    from models.trace import Trace
    from viz.image import Picture

THUMB = 40  # maximum cells per side of a thumbnail

Code = Callable[[int, int | str], str]
Predict = Callable[[int, str, int | None], dict[str, Any]]


def no_predictions(site: int, direction: str, token: int | None) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class TextEntry:
    """A trace of a text, with everything its view requests.

    Attributes:
        shown: the trace, or a `View` of it by whole words.
        code: Python code for the weights of a site and head.
        predict: the predictions at a token, in the format of the `predictions` route; {} if the
            network makes none.
        forward_pass: what a further pass of the network runs in.
        answers: what was computed from it so far.
        opened: the model, for analyses that run it again, its input and the text of its decoder;
            None if it cannot be run.
    """

    shown: "Trace | View"
    code: Code
    predict: Predict = no_predictions
    forward_pass: Callable[[], AbstractContextManager[None]] = nullcontext
    opened: Callable[[], "tuple[Model, Any, Any]"] | None = None
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", Answers(self.shown))


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
        answers: as for `TextEntry`.
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
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", Answers(self.shown))


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
