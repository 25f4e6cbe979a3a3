"""Responses about the heads of another model that are most like one of this model."""

from typing import TYPE_CHECKING, Any

from models.request import Source, TraceRequest
from viz.api import tracing
from viz.api.entries import TraceEntry
from viz.api.model import Answer, or_why
from viz.api.requests import QuestionError
from viz.api.text import site_at

if TYPE_CHECKING:
    from analysis.alike import Alike

BEST = 6  # heads
MOST = 64  # pieces of the text
PLACES = ("catalogue", "hub", "folder")


@or_why
def alike(entry: TraceEntry, id: str, site: int, head: int | str, model: str) -> Answer:
    """The heads of another model whose weights on this text overlap most with those of a head.

    Args:
        entry: the trace of a text.
        id: of the trace.
        site: the layer of the head.
        head: which head.
        model: where the other one is: "catalogue:minilm", "hub:owner/name" or "folder:path".

    Returns:
        The pieces of the text that both have tokens for, the head's weights over them, and of the
        most similar heads layer, head, overlap and weights.
    """
    place, _, name = model.partition(":")
    if place not in PLACES or not name or not isinstance(head, int):
        raise QuestionError(f"expected a head, and {', '.join(PLACES)}: and a name")
    site_at(entry.view, site)
    if entry.opened is None:
        raise ValueError("this view holds its weights only: no other model reads its text")
    _, text, target = entry.opened()
    if not isinstance(text, str) or target is not None:
        raise ValueError("heads of another model are compared on one text")
    source = tracing.stamped(Source(place, name))

    def compute() -> "Alike":
        from analysis.alike import alike
        from models.loading.summary import reads

        opened = tracing.opened(source)
        if not reads(opened).text:
            raise ValueError(f"{opened.name} reads no text")
        other = tracing.traced(TraceRequest(source, text)).value
        result = alike(entry.trace, entry.trace.sites[site], head, other)
        if len(result.pieces) > MOST:
            raise ValueError(f"heads are compared on texts of at most {MOST} pieces")
        return result

    result = entry.answers.once(("alike", site, head, source), compute)
    return {
        "pieces": list(result.pieces),
        "weights": _rounded(result.weights),
        "heads": [
            {
                "layer": result.sites[row].layer,
                "head": number,
                "overlap": float(f"{float(result.overlap[row, number]):.4f}"),
                "weights": _rounded(result.others[row, number]),
            }
            for row, number in result.best(BEST)
        ],
    }


def _rounded(weights: Any) -> list[list[float]]:
    return [[round(value, 5) for value in row] for row in weights.tolist()]
