"""Responses about a detector's objects: their boxes, and the points that their queries sample."""

from typing import TYPE_CHECKING, Any

from viz.api.entries import TraceEntry
from viz.api.model import Answer, opened, or_why
from viz.api.pictured import own_site
from viz.api.requests import QuestionError

if TYPE_CHECKING:
    from models.pretrained.detection import Detection
    from models.pretrained.sampling import SamplingPoints
    from models.trace import Site, Trace

FIGURES = 5  # digits of a share


@or_why
def objects(entry: TraceEntry, id: str) -> Answer:
    """The object of each query, and for each site the row of the first query; −1 for none.

    Sites whose block also samples the picture are listed with it: their queries have points.
    """
    from models.pretrained.sampling import sampling_modules

    detected = _detections(entry)
    trace = entry.trace
    with opened(entry) as (model, _, _):
        sampled = {_block(name) for name in sampling_modules(model)} if detected else set()
    return {
        "objects": [
            {"name": each.name, "score": _short(each.score), "box": [*map(_short, each.box)]}
            for each in detected
        ],
        "first": [first_row(trace, site, len(detected)) for site in trace.sites],
        "sampled": [
            index
            for index, site in enumerate(trace.sites)
            if site.module is not None and _block(site.module) in sampled
        ],
    }


@or_why
def points(entry: TraceEntry, id: str, site: int, head: int | str, query: int) -> Answer:
    """Where one object query samples the picture in the block of a site, with the weights.

    Args:
        entry: of a detector with deformable attention.
        id: of the trace.
        site: of the same block.
        head: whose points; of several heads all, with the share that each has in their mean.
        query: number of the object query.
    """
    layer = _sampled(entry, own_site(entry, site))
    count, heads = layer.weights.shape[1:3]
    if query >= count:
        raise QuestionError(f"expected object query 0 to {count - 1}")
    if isinstance(head, int) and head >= heads:
        raise QuestionError(f"expected head 0 to {heads - 1}, mean or max")
    chosen = range(head, head + 1) if isinstance(head, int) else range(heads)
    places = layer.places[0, query, chosen].flatten(0, -2)
    weights = layer.weights[0, query, chosen].flatten() / len(chosen)
    return {
        "places": [[*map(_short, place)] for place in places.tolist()],
        "weights": [*map(_short, weights.tolist())],
        "module": layer.module,
    }


def first_row(trace: "Trace", site: "Site", count: int) -> int:
    """The row of the first object query of a site whose queries are objects, or end with them."""
    grid = trace.query_grid(site)
    first = 0 if grid is None else grid.prefix + grid.rows * grid.cols
    return first if count and site.queries - first == count else -1


def _detections(entry: TraceEntry) -> "tuple[Detection, ...]":
    from models.pretrained.detection import detections

    def find() -> "tuple[Detection, ...]":
        with opened(entry) as (model, given, _):
            return detections(model, given) if model.door == "transformers" else ()

    return entry.answers.once("objects", find)


def _sampled(entry: TraceEntry, site: "Site") -> "SamplingPoints":
    """The points of the layer in the block of a site."""
    from models.pretrained.sampling import sampling_points

    def find() -> "tuple[SamplingPoints, ...]":
        with opened(entry) as (model, given, _):
            return sampling_points(model, given)

    block = _block(site.module or "")
    for layer in entry.answers.once("points", find):
        if _block(layer.module) == block:
            return layer
    raise ValueError(f"layer {site.layer} samples no points of the picture")


def _block(module: str) -> str:
    """The path of the block that holds an attention module."""
    return module.rpartition(".")[0]


def _short(value: Any) -> float:
    return round(float(value), FIGURES)
