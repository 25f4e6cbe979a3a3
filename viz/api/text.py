"""Responses about the trace of a text: overview, one head's map, exact rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from viz.api.endpoint import endpoint
from viz.api.entries import THUMB, TraceEntry, tokens_of
from viz.api.pool import check, report
from viz.api.registry import Answers
from viz.api.requests import QuestionError
from viz.pack import Part, map_part, message, row_part, sinks_part, thumbs_part
from viz.values import Head

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from analysis.difference import Change
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

    view = entry.view
    base = {
        "model": view.model,
        "note": note_of(view),
        "caveat": caveat_of(view),
        "explains": kind_of(entry.trace.output),
        **_texts_and_sites(view),
    }
    length = length_of(entry.trace)
    if length is not None:
        base["sound"] = length
    if entry.pictures:
        base["pictures"] = len(entry.pictures)
        base["patches"] = entry.patches
        base["mark"] = entry.mark
        base["asked"] = entry.asked
        base["video"] = entry.video
        base["captions"] = entry.compares
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
    site_at(entry.view, site)
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

    attention_site = site_at(entry.view, site, head)
    rows = within("rows", rows, attention_site.queries)
    columns = within("columns", columns, attention_site.keys)
    hidden = None
    if values == DIFFERENCE:
        changes = entry.difference(site)
        cells = changes.pooled(attention_site, head, rows, columns, size=WHOLE)
    else:
        source, hidden = source_of(entry.view, attention_site, values, sinks, entry.answers)
        cells = pooled(source, attention_site, head, rows, columns, size=WHOLE)
    coding = "sqrt" if values == "weights" else values
    shares = hidden and _shares(hidden, attention_site, head, rows, sinks)
    place = (site, head, cells.numpy(force=True), rows, columns)
    return message(maps=[map_part(*place, coding, shares)])


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
    numbers, shares = exact(entry, site, head, axis, index, values, sinks)
    return message(rows=[row_part(site, head, axis, index, numbers, values, shares)])


def exact(
    entry: TraceEntry,
    site: int,
    head: Head,
    axis: Literal["query", "key"],
    index: int,
    values: str = "weights",
    sinks: str = "shown",
) -> "tuple[np.ndarray, Part | None]":
    """The numbers of one query or key, and what went to sinks where these are hidden."""
    from analysis.overview import column_of, rows_of

    attention_site = site_at(entry.view, site, head)
    count = attention_site.queries if axis == "query" else attention_site.keys
    if index >= count:
        raise QuestionError(f"expected index 0 to {count - 1}")
    rows, hidden = range(attention_site.queries), None
    if axis == "query":
        rows = range(index, index + 1)
    if values == DIFFERENCE:
        changes = entry.difference(site)
        if axis == "query":
            numbers = changes.rows(attention_site, head, rows)[0]
        else:
            numbers = changes.column(attention_site, head, index)
    else:
        source, hidden = source_of(entry.view, attention_site, values, sinks, entry.answers)
        if axis == "query":
            numbers = rows_of(source, attention_site, head, rows)[0]
        else:
            numbers = column_of(source, attention_site, head, index)
    shares = hidden and _shares(hidden, attention_site, head, rows, sinks)
    return numbers.numpy(force=True), shares


def source_of(
    view: "TraceOrView", site: "Site", values: str, sinks: str, answers: Answers
) -> "tuple[RowSource, WithoutSinks | None]":
    """What a matrix shows of a site, and its weights without sinks if these are hidden.

    Args:
        shown: the trace, or a view of it.
        site: the layer.
        values: "weights" or "scores".
        sinks: whether they are "shown" or "hidden".
        answers: of the trace's entry; keep which keys are sinks.
    """
    from analysis.scores import Scores, has_scores
    from analysis.sinks import WithoutSinks, resting_keys, sinks_of

    def keys() -> tuple[int, ...]:
        return tuple(sorted({*sinks_of(view, site), *resting_keys(view, site)}))

    if values == "scores" and not has_scores(view, site):
        raise QuestionError("expected single tokens: a word of several has no score")
    hidden = None
    if sinks != "shown":
        hidden = WithoutSinks(view, {site: answers.once(("sinks", site), keys)})
    if values == "scores":
        return Scores(view, hidden.sinks if hidden else {}), hidden
    return hidden or view, hidden


def _shares(hidden: "WithoutSinks", site: "Site", head: Head, rows: range, mode: str) -> Part:
    shares = hidden.shares(site, head, rows).numpy(force=True)
    return sinks_part(mode, hidden.sinks[site], shares)


@dataclass(frozen=True)
class MostChanged:
    """The weight that the edits changed most, over all layers and heads; None where none changed.

    It has the site, head, query, key and change of `analysis.difference.Change`.
    """

    change: "Change | None"


@endpoint("changed", slow=True)
def changed(entry: TraceEntry) -> MostChanged:
    """The weight that the edits changed most."""
    from analysis.difference import most_changed

    def compute() -> "Change | None":
        return most_changed(entry.difference(0), entry.view.sites, report)

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
    return "; ".join(part for part in ("" if view.trained else UNTRAINED, edited) if part)


def note_of(view: "TraceOrView") -> str:
    """The caveat, and how the weights of this trace were grouped."""
    return "; ".join(part for part in (caveat_of(view), getattr(view, "note", "")) if part)


def site_at(view: "TraceOrView", site: int, head: object = None) -> "Site":
    """The site with this index.

    Raises:
        QuestionError: there is no such site, or it has no such head.
    """
    if site >= len(view.sites):
        raise QuestionError(f"expected site 0 to {len(view.sites) - 1}")
    attention_site = view.sites[site]
    if isinstance(head, int) and head >= attention_site.heads:
        raise QuestionError(f"expected head 0 to {attention_site.heads - 1}, mean or max")
    return attention_site


def own_site(entry: TraceEntry, site: int, head: object = None) -> "Site":
    """The site of the trace itself, by its index in what is shown; checks a head of it."""
    site_at(entry.view, site, head)
    if site >= len(entry.trace.sites):
        raise ValueError("choose one kind of attention: each has layers of its own")
    return entry.trace.sites[site]


def one_head(entry: TraceEntry, site: int, head: int | str) -> "tuple[Trace, Site, int]":
    """The trace of single tokens, its site, and the head, for what queries and keys mean.

    Raises:
        QuestionError: for several heads, and for a mean of several passes.
    """
    from analysis.view import JOINT
    from models.averaged import is_mean

    if not isinstance(head, int) or site_at(entry.view, site, head).kind == JOINT:
        raise QuestionError("expected one head of one attention layer")
    if is_mean(entry.trace):
        raise QuestionError(OF_ONE)
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


def _joined(tokens: "Tokens") -> list[int]:
    """The places of tokens that begin where the one before ends, without a space between them."""
    pairs = zip(tokens.spans, tokens.spans[1:], tokens.labels[1:], strict=False)
    return [
        place
        for place, (before, span, label) in enumerate(pairs, start=1)
        if before and span and before[1] == span[0] and not label[:1].isspace()
    ]


def _texts_and_sites(view: "TraceOrView") -> dict[str, Any]:
    """Every distinct text once, and the sites with references to their row and column texts."""
    from analysis.view import View
    from analysis.words import text_numbers

    sides = [(view.queries(site)[0], view.keys(site)[0]) for site in view.sites]
    texts = list({id(tokens): tokens for side in sides for tokens in side}.values())
    kv_heads = [pattern.k.shape[1] for pattern in view.patterns]
    origins: list[list[list[int]] | None] = [None] * len(texts)
    trace: Any = getattr(view, "trace", view)
    frames = None if trace.sound is None else trace.tokens[0].labels
    if isinstance(view, View):
        for site, side in zip(view.sites, sides, strict=True):
            for direction, tokens in zip(("out", "in"), side, strict=True):
                groups = view.origins(site, direction)
                origins[texts.index(tokens)] = [list(group) for group in groups]
    return {
        "texts": [
            {
                "labels": list(tokens.labels),
                "special": [place for place, special in enumerate(tokens.special) if special],
                **({} if origin is None else {"origins": origin}),
                **({"second": numbers.index(1)} if 1 in (numbers := text_numbers(tokens)) else {}),
                **({"joined": joined} if (joined := _joined(tokens)) else {}),
                **({"timed": True} if tokens.labels == frames else {}),
                **({"grids": grids} if (grids := _grids(view, tokens, origin)) else {}),
            }
            for tokens, origin in zip(texts, origins, strict=True)
        ],
        "sites": [
            {
                "layer": site.layer,
                "kind": site.kind,
                "tower": site.tower,
                "module": site.module,
                "part": site.part,
                "heads": site.heads,
                "kv_heads": kv_heads[place] if place < len(kv_heads) else site.heads,
                "queries": len(query),
                "keys": len(key),
                "query_text": texts.index(query),
                "key_text": texts.index(key),
            }
            for place, (site, (query, key)) in enumerate(zip(view.sites, sides, strict=True))
        ],
    }


def _grids(
    view: "TraceOrView", tokens: "Tokens", origins: list[list[int]] | None
) -> list[dict[str, Any]]:
    """Where tokens lie on pictures: areas, and the token of each cell (−1 for a hidden one)."""
    trace: Any = getattr(view, "trace", view)
    for each, site in zip(view.sites, trace.sites, strict=False):
        if view.keys(each)[0] is tokens:
            grids = trace.key_pictures(site)
            break
        if view.queries(each)[0] is tokens:
            grids = trace.query_pictures(site)
            break
    else:
        grids = ()
    hidden = -1
    groups = [[place] for place in range(len(tokens))] if origins is None else origins
    index = {token: place for place, group in enumerate(groups) for token in group}
    return [
        {
            "picture": grid.picture,
            "name": grid.name,
            "shape": [grid.rows, grid.cols],
            "box": [round(side, 5) for side in grid.box],
            "places": [index.get(place, hidden) for place in grid.places.flatten().tolist()],
            "frames": list(grid.frames),
        }
        for grid in grids
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
