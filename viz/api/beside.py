"""Responses about two traces of one text: which tokens are the same, which heads are most alike."""

from typing import TYPE_CHECKING, Any

from viz.api.entries import Kind, TraceEntry
from viz.api.model import Answer, or_why
from viz.api.registry import GoneError, UnknownError, registry
from viz.api.requests import QuestionError
from viz.api.text import site_at

if TYPE_CHECKING:
    from analysis.alike import Alike
    from models.trace import Tokens, Trace

NAMES = {"text": "a text", "image": "a picture", "corpus": "a corpus"}
MOST = 256  # pieces of the text over which heads are compared


def second_of(id: str, kind: Kind = "text") -> TraceEntry:
    """The result with this id.

    Raises:
        QuestionError: for one of another kind, or no longer held.
    """
    try:
        value = registry.get(id).value
    except (GoneError, UnknownError) as error:
        raise QuestionError("the second result is no longer held") from error
    if not isinstance(value, TraceEntry) or value.kind != kind:
        raise QuestionError(f"expected the result of {NAMES[kind]}")
    return value


def aligned(entry: TraceEntry, id: str, second: str) -> dict[str, Any]:
    """Where the tokens of both traces stand in the text.

    Returns:
        Of "first" and "second" the texts, that of the decoder last; of each text, by token, the
        number of the sentence, its first character and the one behind its last; None for special
        tokens.
    """
    both = {"first": entry.trace, "second": second_of(second).trace}
    return {name: [_spans(tokens) for tokens in _texts(trace)] for name, trace in both.items()}


@or_why
def likeness(entry: TraceEntry, id: str, site: int, head: int | str, second: str) -> Answer:
    """How much of its weight each head of the second puts where a head of the first does.

    Returns:
        By layer and head of the second the overlap (see `analysis.alike`), None for layers that
        are not over the text; and the layer and head with the largest.
    """
    site_at(entry.view, site)
    if not isinstance(head, int):
        raise ValueError("choose one head")
    other = second_of(second).trace

    def compute() -> "Alike":
        from analysis.alike import alike, common_pieces

        pieces, _ = common_pieces(entry.trace.tokens[0], other.tokens[0])
        if len(pieces) > MOST:
            raise ValueError(f"heads are compared on texts of at most {MOST} pieces")
        return alike(entry.trace, _site(entry.trace, site), head, other)

    result = entry.answers.once(("likeness", site, head, second), compute)
    overlap: list[list[float | None]] = [[None] * each.heads for each in other.sites]
    places = [other.sites.index(each) for each in result.sites]
    for row, place in enumerate(places):
        known = result.overlap[row, : other.sites[place].heads].tolist()
        overlap[place] = [float(f"{value:.4f}") for value in known]
    ((row, best),) = result.best(1)
    return {"overlap": overlap, "best": [places[row], best]}


def _site(trace: "Trace", site: int) -> Any:
    if site >= len(trace.sites):
        raise ValueError("choose a layer of self-attention over the text")
    return trace.sites[site]


def _texts(trace: "Trace") -> "list[Tokens]":
    return [trace.tokens[0], *(trace.target_tokens or ())[:1]]


def _spans(tokens: "Tokens") -> list[list[int] | None]:
    pairs = zip(tokens.segments, tokens.spans, strict=True)
    return [None if span is None else [segment, *span] for segment, span in pairs]
