"""Two traces of one text: which tokens are the same, and which heads are most alike."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from viz.api.endpoint import QuestionError, ResultKind, endpoint
from viz.api.entries import TraceEntry
from viz.api.registry import GoneError, registry
from viz.api.text import own_site

if TYPE_CHECKING:
    from analysis.alike import Alike
    from models.trace import Tokens, Trace

NAMES = {"text": "a text", "image": "a picture", "corpus": "a corpus"}
MOST = 256  # pieces of the text over which heads are compared

Spans = list[list[tuple[int, int, int] | None]]


@dataclass(frozen=True)
class AlignedAnswer:
    """Where the tokens of both traces stand in the text; the text of a decoder comes last.

    By text and token the number of the sentence, the first character and the one behind the last;
    None for special tokens.
    """

    first: Spans
    second: Spans


@dataclass(frozen=True)
class LikenessAnswer:
    """How much of its weight each head of the second puts where one of the first does.

    By site and head, None for layers that are not over the text; and the head with the largest.
    """

    overlap: list[list[float | None]]
    best: tuple[int, int]


def second_of(id: str, kind: ResultKind = "text") -> TraceEntry:
    """The result with this id.

    Raises:
        QuestionError: for one of another kind, or no longer held.
    """
    try:
        value = registry.get(id).value
    except GoneError as error:
        raise QuestionError("the second result is no longer held") from error
    if not isinstance(value, TraceEntry) or value.kind != kind:
        raise QuestionError(f"expected the result of {NAMES[kind]}")
    return value


@endpoint("aligned", "text")
def aligned(entry: TraceEntry, second: str) -> AlignedAnswer:
    """Where the tokens of both traces stand in the text."""
    return AlignedAnswer(_spans(entry.trace), _spans(second_of(second).trace))


@endpoint("likeness", "text", slow=True)
def likeness(entry: TraceEntry, site: int, head: int | str, second: str) -> LikenessAnswer:
    """How much of its weight each head of the second puts where a head of the first does."""
    if not isinstance(head, int):
        raise ValueError("choose one head")
    other = second_of(second).trace

    def compute() -> "Alike":
        from analysis.alike import alike, common_pieces

        pieces, _ = common_pieces(entry.trace.tokens[0], other.tokens[0])
        if len(pieces) > MOST:
            raise ValueError(f"heads are compared on texts of at most {MOST} pieces")
        return alike(entry.trace, own_site(entry, site), head, other)

    result = entry.answers.once(("likeness", site, head, second), compute)
    overlap: list[list[float | None]] = [[None] * each.heads for each in other.sites]
    places = [other.sites.index(each) for each in result.sites]
    for row, place in enumerate(places):
        overlap[place] = result.overlap[row, : other.sites[place].heads].tolist()
    ((row, best),) = result.best(1)
    return LikenessAnswer(overlap, (places[row], best))


def _spans(trace: "Trace") -> Spans:
    texts: list[Tokens] = [trace.tokens[0], *(trace.target_tokens or ())[:1]]
    return [
        [
            None if span is None else (segment, *span)
            for segment, span in zip(tokens.segments, tokens.spans, strict=True)
        ]
        for tokens in texts
    ]
