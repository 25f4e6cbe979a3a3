"""Registry entries of the attention views."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from viz.api.endpoint import QuestionError, ResultKind
from viz.api.registry import Answers

if TYPE_CHECKING:
    from PIL.Image import Image

    from analysis.corpus.opened import Run
    from analysis.derived import Difference
    from analysis.view import View
    from models.model import Model
    from models.request import File, TraceRequest
    from models.trace import Site, Trace

THUMB = 40  # maximum cells per side of a thumbnail


@dataclass(frozen=True, eq=False)
class TraceEntry:
    """A trace, with everything its views request.

    Attributes:
        view: the trace, or a `View` of it by whole words.
        request: that it is the result of; None for a trace that no page shows.
        model: whose predictions can be asked for; None of a trace of which there are none.
        forward_pass: what a further pass of the network runs in.
        opened: the model, for analyses that run it again, its input and the text of its decoder;
            None if it cannot be run.
        pictures: the pictures that tokens lie on: those of a question as they were given, or the
            frames of its video, else the picture as the model sees it; () without any.
        patches: whether all tokens are patches of one picture, or belong to it as a whole.
        mark: row and column of the patch where the network's answer places an object; None if its
            answer is no place.
        asked: whether the input is a question about them.
        video: whether they are the frames of a video.
        before: the result of the same pass without its edits; None for one without edits.
        answers: what was computed from it so far.
    """

    view: "Trace | View"
    request: "TraceRequest | None" = None
    model: "Model | None" = None
    forward_pass: Callable[[], AbstractContextManager[None]] = nullcontext
    opened: Callable[[], "tuple[Model, Any, Any]"] | None = None
    pictures: "tuple[File | Image, ...]" = ()
    patches: bool = False
    mark: tuple[int, int] | None = None
    asked: bool = False
    video: bool = False
    before: "Callable[[], TraceEntry] | None" = None
    answers: Answers = field(default_factory=Answers, init=False)

    def model_and_input(self) -> "tuple[Model, Any, Any]":
        """The model, its input and the text of its decoder.

        Raises:
            ValueError: for a trace that came without its model.
        """
        if self.opened is None:
            raise ValueError(
                "this needs the model: pass run=(model, input), the pair that was traced"
            )
        return self.opened()

    @property
    def kind(self) -> ResultKind:
        """The kind of view: of patches on their picture, or of tokens in a row."""
        return "image" if self.patches else "text"

    @property
    def sites(self) -> "Sequence[Site]":
        """The attention layers of what is shown."""
        return self.view.sites

    @property
    def trace(self) -> "Trace":
        """The trace by its own tokens."""
        from analysis.view import View

        return self.view.trace if isinstance(self.view, View) else self.view

    @property
    def compares(self) -> bool:
        """Whether the network compares pictures with texts, such as captions."""
        return self.trace.output.name == "similarity of each image to each text"

    @property
    def unedited(self) -> "TraceEntry":
        """The result of the same pass without its edits.

        Raises:
            QuestionError: for one without edits.
        """
        if self.before is None:
            raise QuestionError("this pass has no edits")
        return self.before()

    def difference(self, site: "Site") -> "Difference":
        """What the edits changed in the weights of a layer.

        Raises:
            QuestionError: without edits, or where these changed the tokens.
        """
        from analysis.derived import Difference

        other = self.unedited.view
        index = self.view.sites.index(site)
        if [*other.sites[index : index + 1]] != [site]:
            raise QuestionError("the edits changed the tokens: there is no difference of weights")
        return Difference(self.view, other)


def tokens_of(view: "Trace | View", site: int, direction: str) -> Sequence[Sequence[int]]:
    """The tokens of the trace that stand for each row ("out") or column ("in") of a site."""
    from analysis.view import View

    where = view.sites[site]
    if isinstance(view, View):
        return view.origins(where, direction)
    return [(place,) for place in range(where.queries if direction == "out" else where.keys)]


@dataclass(frozen=True, eq=False)
class RunEntry:
    """A run over a corpus.

    Attributes:
        run: its tables.
        sites: the attention layers of its heads, in the order of their numbers; `queries` and
            `keys` are the sides of the mean weights of a head.
        other: a second run that it is compared with.
        other_link: of the second run, the parameters of a link.
        answers: what was read and computed so far.
    """

    run: "Run"
    sites: "tuple[Site, ...]"
    other: "Run | None" = None
    other_link: Mapping[str, str] = field(default_factory=dict)
    answers: Answers = field(default_factory=Answers, init=False)

    @property
    def kind(self) -> ResultKind:
        """The kind of view."""
        return "corpus"

    @property
    def second(self) -> "Run | None":
        """The second run, if there is one and it has the same heads, by their addresses."""
        from analysis.corpus.opened import ADDRESS

        if self.other is None:
            return None
        runs = self.run, self.other
        mine, theirs = (run.heads[ADDRESS].fillna("").reset_index() for run in runs)
        return self.other if mine.equals(theirs) else None

    @property
    def firsts(self) -> list[int]:
        """The number of the first head of each site in the run's tables."""
        return [*accumulate((site.heads for site in self.sites[:-1]), initial=0)]

    def number_of(self, site: int, head: int) -> int:
        """The number of a head in the run's tables."""
        return self.firsts[site] + head

    def place_of(self, number: int) -> tuple[int, int]:
        """The site of a head, and its number there."""
        site = bisect_right(self.firsts, number) - 1
        return site, number - self.firsts[site]

    def by_site(self, values: Any) -> list[Any]:
        """The part of each site in something of all heads."""
        parts = zip(self.firsts, self.sites, strict=True)
        return [values[first : first + site.heads] for first, site in parts]
