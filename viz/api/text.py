"""Responses about the trace of a text: overview, one head's map, exact rows."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from viz.api.endpoint import QuestionError, endpoint
from viz.api.entries import THUMB, TraceEntry, tokens_of
from viz.api.pool import check, report
from viz.pack import (
    ALL,
    Part,
    factor_for,
    layer_part,
    map_part,
    message,
    row_part,
    sinks_part,
    thumbs_part,
)
from viz.values import Head

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from analysis.derived import Change
    from analysis.overview import RowSource
    from analysis.sinks import WithoutSinks
    from analysis.view import View
    from models.text import Tokens
    from models.trace import Site, Trace

    TraceOrView = Trace | View

DIFFERENCE = "difference"  # what edits changed, in place of weights
WHOLE = 640  # maximum cells per side of a map; larger matrices are max-pooled
AT_ONCE = 2**20  # weights of all heads up to which the overview has their thumbnails
OF_ONE = "A mean of several prompts has weights and scores, but no queries, keys and values"
UNTRAINED = "untrained: random weights"


@endpoint("overview")
def overview(entry: TraceEntry) -> bytes:
    """Labels and sites: everything needed to draw the controls; of short texts the thumbnails."""
    from analysis.target import kind_of
    from models.attention.given import GivenWeights

    view = entry.view
    base = {
        "model": view.model,
        "note": note_of(view),
        "caveat": caveat_of(view),
        "explains": kind_of(entry.trace.output),
        **_texts_and_sites(view),
    }
    if isinstance(view.patterns[0], GivenWeights):
        base["given"] = True
    if (length := length_of(entry.trace)) is not None:
        base["sound"] = length
    if entry.pictures:
        base |= {"pictures": len(entry.pictures), "captions": entry.compares}
        base |= {name: getattr(entry, name) for name in ("patches", "mark", "asked", "video")}
    if entry.patches:
        if base["explains"] != "classes":  # of a state there is no second picture to be like
            base["explains"] = "nothing"
        for text in base["texts"]:  # the picture is the part that is read
            for grid in text["grids"]:
                grid["box"] = [0, 0, 1, 1]
    if entry.asked:
        base["pictured"] = entry.answers.once("pictured", lambda: _digest(entry))
    sites = range(len(view.sites)) if is_short(view) and not entry.patches else ()
    small = thumbs_part([_thumbs(entry, site) for site in sites]) if sites else None
    return message(base, thumbs=small)


def is_short(view: "TraceOrView") -> bool:
    """Whether the thumbnails come with the overview."""
    return sum(site.heads * site.queries * site.keys for site in view.sites) <= AT_ONCE


@endpoint("thumbs", slow=True)
def thumbs_of(entry: TraceEntry, site: int) -> bytes:
    """Thumbnails of the heads of one site."""
    return message(thumbs=thumbs_part([_thumbs(entry, site)], site))


def _thumbs(entry: TraceEntry, site: int) -> "np.ndarray":
    """Those of one site, in one pass over its weights; ends when the request is cancelled."""
    from analysis.overview import survey

    view = entry.view
    return entry.answers.once(
        ("survey", site), lambda: survey(view, view.sites[site], size=THUMB, check=check)
    ).numpy(force=True)


@endpoint("map")
def map_of(
    entry: TraceEntry,
    site: int,
    head: Head,
    rows: range | None = None,
    columns: range | None = None,
    values: str = "weights",
    sinks: str = "shown",
) -> bytes:
    """One head's weights, or a part of them, max-pooled to at most `WHOLE` cells per side.

    Args:
        entry: the trace and what is known of it.
        site: index of the site.
        head: its head.
        rows: which queries; None for all.
        columns: which keys; None for all.
        values: "weights"; "scores" before the softmax, or the "difference" that edits make, which
            have codings of their own.
        sinks: whether the first token and the special ones are "shown" or "hidden".
    """
    from analysis.overview import pooled

    where = entry.view.sites[site]
    rows = within("rows", rows, where.queries)
    columns = within("columns", columns, where.keys)
    source, hidden = source_of(entry, where, values, sinks)
    cells = pooled(source, where, head, rows, columns, size=WHOLE).numpy(force=True)
    coding = "sqrt" if values == "weights" else values
    left_out = _left_out(hidden, where, head, rows)
    return message(maps=[map_part(site, head, cells, rows, columns, coding, left_out)])


@endpoint("row")
def row_of(
    entry: TraceEntry,
    site: int,
    head: Head,
    axis: Literal["query", "key"],
    index: int,
    values: str = "weights",
    sinks: str = "shown",
) -> bytes:
    """The exact weights of one query over all keys, or of one key over all queries.

    Or scores, or what edits changed.
    """
    where = entry.view.sites[site]
    source, hidden = source_of(entry, where, values, sinks)
    numbers = exact(source, where, head, axis, index)
    rows = range(index, index + 1) if axis == "query" else range(where.queries)
    left_out = _left_out(hidden, where, head, rows)
    return message(rows=[row_part(site, head, axis, index, numbers, values, left_out)])


@endpoint("layer", "image")
def layer_of(entry: TraceEntry, site: int) -> bytes:
    """All heads of one layer; patches are pooled where they would not fit one message."""
    from analysis.patches import grid_of, layer_cells, resting_cells

    attention_site = entry.trace.sites[site]
    grid, prefix = grid_of(entry.trace, attention_site)
    factor = factor_for(attention_site.heads, grid, prefix)
    cells = layer_cells(entry.trace, attention_site, factor)
    resting = tuple(resting_cells(cells, prefix).nonzero().flatten().tolist())
    return message(layers=[layer_part(site, cells.numpy(force=True), factor, resting)])


@endpoint("heads", "image")
def heads_of(
    entry: TraceEntry,
    site: int,
    axis: Literal["query", "key"],
    index: int,
    values: Literal["weights", "difference"] = "weights",
) -> bytes:
    """The exact weights of all heads for one query, or for one key; or what edits changed."""
    import numpy as np

    where = entry.trace.sites[site]
    source, _ = source_of(entry, where, values, "shown")
    heads = [exact(source, where, head, axis, index) for head in range(where.heads)]
    numbers = np.stack(heads)[:, : where.queries]
    return message(rows=[row_part(site, ALL, axis, index, numbers, values)])


@endpoint("sinks", "image", slow=True)
def sinks_of(entry: TraceEntry, site: int, outliers: bool = False) -> bytes:
    """The class token, registers and, if asked for, outlier patches, and what rows give to them."""
    from analysis.patches import patch_sinks

    sinks = patch_sinks(entry.trace, entry.trace.sites[site], outliers=outliers, check=check)
    part = {
        "site": site,
        "outliers": "yes" if outliers else "no",
        "keys": list(sinks.keys),
        "shares": sinks.shares.tolist(),
    }
    return message(sinks=[part])


def exact(
    source: "RowSource", site: "Site", head: Head, axis: Literal["query", "key"], index: int
) -> "np.ndarray":
    """The numbers of one query or key."""
    from analysis.overview import column_of, rows_of

    count = site.queries if axis == "query" else site.keys
    if index >= count:
        raise QuestionError(f"expected index 0 to {count - 1}")
    if axis == "query":
        return rows_of(source, site, head, range(index, index + 1))[0].numpy(force=True)
    return column_of(source, site, head, index).numpy(force=True)


def source_of(
    entry: TraceEntry, site: "Site", values: str, sinks: str
) -> "tuple[RowSource, WithoutSinks | None]":
    """What a matrix shows of a layer, and its weights without sinks if these are hidden.

    Args:
        entry: the trace; its answers keep which keys are sinks.
        site: the layer.
        values: "weights", "scores", or the "difference" that edits make, which hides nothing.
        sinks: whether they are "shown" or "hidden".
    """
    from analysis.derived import Scores, has_scores
    from analysis.sinks import WithoutSinks, resting_keys, sinks_of
    from analysis.view import JOINT
    from models.attention.given import ALONE, GivenWeights

    view = entry.view

    def keys() -> tuple[int, ...]:
        return tuple(sorted({*sinks_of(view, site), *resting_keys(view, site)}))

    if values == DIFFERENCE:
        return entry.difference(site), None
    if values == "scores":
        if site.kind != JOINT and isinstance(view.patterns[0], GivenWeights):
            raise QuestionError(ALONE)
        if not has_scores(view, site):
            raise QuestionError("expected single tokens: a word of several has no score")
    hidden = None
    if sinks != "shown":
        hidden = WithoutSinks(view, {site: entry.answers.once(("sinks", site), keys)})
    if values == "scores":
        return Scores(view, hidden.sinks if hidden else {}), hidden
    return hidden or view, hidden


def _left_out(hidden: "WithoutSinks | None", site: "Site", head: Head, rows: range) -> Part | None:
    if hidden is None:
        return None
    shares = hidden.shares(site, head, rows).numpy(force=True)
    return sinks_part("hidden", hidden.sinks[site], shares)


@dataclass(frozen=True)
class MostChanged:
    """The weight that the edits changed most, over all layers and heads; None where none changed.

    It has the site, head, query, key and change of `analysis.derived.Change`.
    """

    change: "Change | None"


@endpoint("changed", slow=True)
def changed(entry: TraceEntry) -> MostChanged:
    """The weight that the edits changed most."""
    from analysis.derived import most_changed

    def compute() -> "Change | None":
        return most_changed(entry.difference(entry.view.sites[0]), entry.view.sites, report)

    return MostChanged(entry.answers.once(("changed",), compute))


def _digest(entry: TraceEntry) -> str:
    """What tells the pictures of one entry from those of another."""
    from models.request import File, digest_of

    parts = [
        picture.digest if isinstance(picture, File) else digest_of(picture.tobytes())
        for picture in entry.pictures
    ]
    return digest_of(".".join(parts))[:16]


def caveat_of(view: "TraceOrView") -> str:
    """What is said with every picture of this trace; empty if there is nothing."""
    trace: Any = getattr(view, "trace", view)
    count = len(trace.edits)
    edited = f"after {count} edit{'' if count == 1 else 's'}" if count else ""
    said = () if trace.origin else trace.notes  # no page has them
    return "; ".join(part for part in ("" if view.trained else UNTRAINED, edited, *said) if part)


def note_of(view: "TraceOrView") -> str:
    """The caveat, and how the weights of this trace were grouped."""
    return "; ".join(part for part in (caveat_of(view), getattr(view, "note", "")) if part)


def own_site(entry: TraceEntry, site: int) -> "Site":
    """The site of the trace itself, by its index in what is shown."""
    if site >= len(entry.trace.sites):
        raise ValueError("choose one kind of attention: each has layers of its own")
    return entry.trace.sites[site]


def without_parts(trace: "Trace") -> str:
    """Why a trace has no queries, keys and values; "" if it has."""
    from models.attention.given import ALONE, GivenWeights
    from models.averaged import is_mean

    if is_mean(trace):
        return OF_ONE
    return ALONE if isinstance(trace.patterns[0], GivenWeights) else ""


def one_head(entry: TraceEntry, site: int, head: int | str) -> "tuple[Trace, Site, int]":
    """The trace of single tokens, its site, and the head, for what queries and keys mean.

    Raises:
        QuestionError: for several heads, and where there are no queries and keys.
    """
    from analysis.view import JOINT

    if not isinstance(head, int) or entry.view.sites[site].kind == JOINT:
        raise QuestionError("expected one head of one attention layer")
    if why := without_parts(entry.trace):
        raise QuestionError(why)
    return entry.trace, entry.trace.site(entry.view.sites[site]), head


def token_of(entry: TraceEntry, site: int, direction: str, index: int) -> int:
    """The token of a row or column; of a word its last one."""
    tokens = tokens_of(entry.view, site, direction)
    if index >= len(tokens):
        raise QuestionError(f"expected a position 0 to {len(tokens) - 1}")
    return tokens[index][-1]


def of_head(values: "Tensor", head: Head) -> "Tensor":
    """One head of values "head …", or what combines them."""
    if head == "mean":
        return values.mean(0)
    return values.amax(0) if head == "max" else values[head]


def _texts_and_sites(view: "TraceOrView") -> dict[str, Any]:
    """Every distinct text once, and the sites with references to their row and column texts."""
    sides = [(view.queries(site)[0], view.keys(site)[0]) for site in view.sites]
    texts: dict[int, tuple[Tokens, Site]] = {}
    for site, side in zip(view.sites, sides, strict=True):
        for tokens in side:
            texts.setdefault(id(tokens), (tokens, site))
    numbers = {key: number for number, key in enumerate(texts)}
    grouped = [pattern.key_heads for pattern in view.patterns]
    kv_heads = [*grouped, *(site.heads for site in view.sites[len(grouped) :])]
    return {
        "texts": [_text(view, *each) for each in texts.values()],
        "sites": [
            {
                **asdict(site),
                "kv_heads": kv_heads[number],
                "queries": len(query),
                "keys": len(key),
                "query_text": numbers[id(query)],
                "key_text": numbers[id(key)],
            }
            for number, (site, (query, key)) in enumerate(zip(view.sites, sides, strict=True))
        ],
    }


def _text(view: "TraceOrView", tokens: "Tokens", site: "Site") -> dict[str, Any]:
    """A text of a site; without what it does not have."""
    from analysis.view import View
    from analysis.words import text_numbers

    trace: Any = getattr(view, "trace", view)
    direction = "in" if view.keys(site)[0] is tokens else "out"
    origins = (
        [[*each] for each in view.origins(site, direction)] if isinstance(view, View) else None
    )
    groups = [[place] for place in range(len(tokens))] if origins is None else origins
    numbers = text_numbers(tokens)
    spans = zip(tokens.spans, tokens.spans[1:], tokens.labels[1:], strict=False)
    joined = [  # tokens that begin where the one before ends, without a space between them
        place
        for place, (before, span, label) in enumerate(spans, start=1)
        if before and span and before[1] == span[0] and not label[:1].isspace()
    ]
    frames = trace.sound is not None and tokens.labels == trace.tokens[0].labels
    known = {
        "origins": origins,
        "second": numbers.index(1) if 1 in numbers else None,
        "joined": joined or None,
        "timed": frames or None,
        "grids": _grids(view, site, direction, groups) or None,
    }
    special = [place for place, special in enumerate(tokens.special) if special]
    about = {"labels": list(tokens.labels), "special": special}
    return about | {name: value for name, value in known.items() if value is not None}


def _grids(
    view: "TraceOrView", site: "Site", direction: str, groups: list[list[int]]
) -> list[dict[str, Any]]:
    """Where tokens lie on pictures: areas, and the token of each cell (−1 for a hidden one)."""
    trace: Any = getattr(view, "trace", view)
    number = view.sites.index(site)
    if number >= len(trace.sites):
        return []
    of_side = trace.key_pictures if direction == "in" else trace.query_pictures
    index = {token: place for place, group in enumerate(groups) for token in group}
    return [
        {
            "picture": grid.picture,
            "name": grid.name,
            "shape": [grid.rows, grid.cols],
            "box": [round(side, 5) for side in grid.box],
            "places": [index.get(place, -1) for place in grid.places.flatten().tolist()],
            "frames": list(grid.frames),
        }
        for grid in of_side(trace.sites[number])
    ]


def length_of(trace: "Trace") -> dict[str, float] | None:
    """Seconds of the recording with and without padding; None for a trace of no recording."""
    if trace.sound is None:
        return None
    heard = trace.sound.heard[0] if trace.sound.heard else trace.sound.seconds
    return {"seconds": trace.sound.seconds, "heard": min(heard, trace.sound.seconds)}


def within(name: str, asked: range | None, count: int) -> range:
    """The positions that were asked for, all of `count` by default.

    Raises:
        QuestionError: there are fewer.
    """
    if asked is None:
        return range(count)
    if asked.stop > count:
        raise QuestionError(f"expected {name} within 0-{count}")
    return asked
