"""The forms beside matrix and lines: what each shows, as parts of a figure and as named numbers.

A form is a function here and a line in `FORMS`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME, names_of
from viz.drawing.panels import Charts, Grid, Lines, Panel, Points, Shaded
from viz.drawing.scales import score_scale, weight_scale
from viz.export.request import (
    DOUBT,
    One,
    Request,
    labels_of,
    layers_of,
    name_of,
    rows_and_columns,
    site_name,
    strongest_of,
    weights_of,
)
from viz.export.sinks import hidden_of, hidden_sentence
from viz.selection import Chosen

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with named axes.

    Attributes:
        name: of the numbers.
        axes: a name for each axis.
        values: the numbers.
        labels: of the places along an axis, by its name.
        at: the coordinates that all numbers share, or those of each place along a first axis
            "head"; of sites as `Where.coordinates` gives them.
        places: positions along an axis that does not start at 0 or skips some, by its name.
    """

    name: str
    axes: tuple[str, ...]
    values: np.ndarray
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    at: Mapping[str, Any] | Sequence[Mapping[str, Any]] = field(default_factory=dict)
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Content:
    """What a form shows.

    Attributes:
        description: what that is, in a sentence or two.
        panels: the parts of its figure.
        tables: its numbers.
        layers: whether it is about all layers together.
        grouped: whether the numbers are grouped as the weights of the view are.
        doubt: what it does not prove.
    """

    description: str
    panels: Sequence[Panel]
    tables: Sequence[Table]
    layers: bool = False
    grouped: bool = True
    doubt: str = DOUBT


# ---- the text, shaded


def _text(request: Request) -> Content:
    """The weights of one token, or their mean, on the text itself; once for each layer and head."""
    query, key = labels_of(request)
    rows, columns = rows_and_columns(request)
    inward, choice = request.selection.inward, request.selection
    token = request.selection.token if request.selection.token is not None else rows.start
    span = columns if inward else rows
    if not choice.average and not 0 <= token - span.start < len(span):
        raise ValueError("token: expected one of the rows or columns that are shown")
    place = token - span.start
    axis, span = ("query", rows) if inward and not choice.average else ("key", columns)
    fixed = {} if choice.average else {"key" if inward else "query": token}
    layers = layers_of(request)
    copies: list[tuple[Request, One]] = [(each, head) for each in layers for head in each.heads]
    scores = request.selection.values == "scores"
    if scores and choice.average:
        raise ValueError("average: expected weights, received scores, of which masked ones are −∞")
    what = "score" if scores else "weight"
    if choice.average:
        labels = key
        description = "How much weight each token receives, averaged over all tokens."
        values = [
            _mean_over_queries(each, head)[columns.start : columns.stop] for each, head in copies
        ]
    elif inward:
        labels = query
        description = f"The {what} that each token gives to “{key[place]}” ({token})."
        values = [weights_of(each, head)[:, place] for each, head in copies]
    else:
        labels = key
        description = f"The {what} that “{query[place]}” ({token}) gives to each token."
        values = [weights_of(each, head)[place] for each, head in copies]
    found = np.stack(values)
    top = request.selection.top
    description += f" The {top} strongest are outlined." if top else ""
    strongest = [np.flatnonzero(strongest_of(each[None], top)[0]).tolist() for each in found]
    if not scores:
        found = np.where(found >= request.selection.least, found, np.nan)
    asked = rows if inward else range(token, token + 1)
    hidden = None if choice.average else hidden_of(request, asked if len(layers) == 1 else None)
    if hidden is not None:
        description += (
            f" {hidden_sentence(request, hidden, 'the weight' if inward else 'this row')}"
        )
        if not inward:
            found[:, [key - columns.start for key in hidden.keys if key in columns]] = np.nan
    own = request.selection.scale == "own" or choice.average
    most = float(np.nan_to_num(found).max())
    scale = score_scale(found) if scores else weight_scale(most or 1.0 if own else 1.0)
    marked = place if labels == (key if inward else query) and not choice.average else None
    several = "layer {} · " if len(layers) > 1 else ""
    names = [several.format(each.site.layer) + name_of(head) for each, head in copies]
    return Content(
        description,
        [
            Shaded(
                *(names[i], labels, each, scale),
                marked=marked,
                strongest=strongest[i],
                bar=i == len(found) - 1,
            )
            for i, each in enumerate(found)
        ],
        [
            Table(
                what,
                ("head", axis),
                found,
                {"head": names, axis: labels},
                [each.site.where.coordinates | {"head": head, **fixed} for each, head in copies],
                {axis: span},
            )
        ],
    )


def _mean_over_queries(request: Request, head: One) -> np.ndarray:
    from analysis.filters import mean_over_queries

    return mean_over_queries(request.shown, request.site, head).numpy(force=True)


# ---- one pair, and one row


def _query_key(request: Request) -> Content:
    from viz.api.steps import pair_of

    choice, entry = request.selection, _entry(request)
    query, key = choice.query or 0, choice.key or 0
    found = pair_of(entry, "", request.index, request.heads[0], query, key)
    strips = [(each["name"], np.array(each["values"])) for each in found["strips"]]
    steps = [(s["name"], s["value"], s["how"]) for s in found["steps"]]
    lines = [f"{name} = {_figures(value)}   {how}" for name, value, how in steps]
    title = f"From “{found['query']}” ({query}) to “{found['key']}” ({key})"
    written, shares = _split(request, query, key)
    values = np.array([np.nan if value is None else value for _, value, _ in steps])
    at = request.site.where.coordinates | {"head": request.heads[0], "query": query, "key": key}
    return Content(
        f"{title}: query and key element by element, and the steps to the weight.",
        [
            *(Grid(name, each[None], words="element") for name, each in strips),
            Lines(title, [*lines, *found["applied"]]),
            *written,
        ],
        [
            *(Table(name, ("element",), each, at=at) for name, each in strips),
            Table("step", ("step",), values, {"step": [name for name, _, _ in steps]}, at),
            *(replace(share, at=at) for share in shares),
        ],
        grouped=False,
    )


def _split(request: Request, query: int, key: int) -> tuple[list[Panel], list[Table]]:
    """The score split over what was written at the query and at the key, where it can be."""
    from viz.api import heads

    try:
        made = heads.split(_entry(request), "", request.index, request.heads[0], query, key)
    except ValueError as error:
        return [Lines("Why this score", [" ".join(str(error).split())])], []
    panels: list[Panel] = []
    tables = []
    for side in ("query", "key"):
        names = [each["name"] for each in made[side]]
        values = np.array([each["value"] for each in made[side]])
        title = f"The score, {_figures(made['score'])}, split over what was written at the {side}"
        panels.append(Grid(title, values[None], cols=names, words="share of the score"))
        tables.append(Table(f"share at the {side}", ("component",), values, {"component": names}))
    return panels, tables


MATRICES = {
    "q": ("queries", "query", "feature"),
    "k": ("keys", "key", "feature"),
    "products": ("query · key", "query", "key"),
    "scores": ("scores, with bias and mask", "query", "key"),
    "weights": ("weights, after the softmax", "query", "key"),
    "v": ("values", "key", "feature"),
    "output": ("weights × values", "query", "feature"),
    "written": ("what the head writes at the query", "query", "feature"),
}


def _stages(request: Request) -> Content:
    from analysis.stages import stages
    from viz.api.steps import call_of, token_of

    entry, query = _entry(request), request.selection.query or 0
    trace, site, head = call_of(entry, request.index, request.heads[0])
    found = stages(trace, site, head, token_of(entry, request.index, "out", query))
    labels = {
        "query": [trace.query_labels(site)[i] for i in found.rows],
        "key": [trace.key_labels(site)[i] for i in found.keys],
    }
    at = site.where.coordinates | {"head": head}
    places = {"query": found.rows, "key": found.keys}
    panels: list[Panel] = []
    tables = []
    for name, (title, rows, cols) in MATRICES.items():
        title = found.formula if name == "products" else title
        if name == "output":
            title += ", changed by an edit" if found.edited else ""
            title += ", times the output gate" if found.gated else ""
        given = getattr(found, name)
        if given is None:
            panels.append(Lines(title, [found.reason]))
            continue
        values = np.atleast_2d(given.numpy(force=True).astype(np.float32))
        chosen = slice(found.chosen, found.chosen + 1) if name == "written" else slice(None)
        across, down = labels[rows][chosen], labels.get(cols, ())
        panels.append(Grid(title, values, across, down, words=title))
        named = places | {rows: places[rows][chosen]}
        tables.append(Table(name, (rows, cols), values, {rows: across, cols: down}, at, named))
    token = found.rows[found.chosen]
    label = trace.query_labels(site)[token]
    description = f"One head for “{label}” ({token}), from queries and keys to what it writes."
    return Content(description, panels, tables, grouped=False)


# ---- all layers together


def _model(request: Request) -> Content:
    """The map of a method where it has one, and a row of it; or the relevance of each token."""
    choice = request.selection
    methods = [BY_NAME[method.name] for method in choice.methods]
    parts: list[Content] = []
    for i, chosen in enumerate(choice.methods):
        again = methods[i] in methods[:i]  # the same method, its heads fused in another way
        part = _method(request, chosen)
        tables = [replace(table, name=f"{table.name} beside") for table in part.tables]
        parts.append(replace(part, tables=tables) if again else part)
        if choice.tested and methods[i].kind == "relevance" and not again:
            parts.append(_curves(request, chosen.name))
    return Content(
        " ".join(dict.fromkeys(part.description for part in parts)),
        [panel for part in parts for panel in part.panels],
        [table for part in parts for table in part.tables],
        layers=all(method.of == "tower" for method in methods),
        grouped=False,
        doubt=" ".join(dict.fromkeys(method.doubt for method in methods)),
    )


def _method(request: Request, chosen: Chosen) -> Content:
    from viz.api import model

    info, method = BY_NAME[chosen.name], chosen.name
    entry, site = _entry(request), request.index
    if info.kind == "relevance":
        return _relevance(request, method)
    head = request.heads[0] if info.of == "head" else "mean"
    query, key = (
        request.shown.query_labels(request.site),
        request.shown.key_labels(request.site),
    )
    row = request.selection.query or 0
    name = f"{info.title}{_short(chosen)}"
    title = f"{name}, row of “{query[row]}” ({row})"
    grouped = _grouped(request, method)
    description = f"{name}. {info.shows}{fused_of(chosen)}{grouped}"
    at = _covered(request, chosen)
    if info.kind == "row":
        answer = model.row_of(entry, "", site, head, method, row, fusion=chosen.fusion)
        found = np.array(_given(answer)["values"])
        named = {"key": key}
        return Content(
            description,
            [Shaded(title, key, found, marked=None)],
            [Table(method, ("key",), found, named, at | {"query": row})],
        )
    try:
        values = model.whole_map(entry, site, head, method, chosen.fusion, chosen.discard).numpy(
            force=True
        )
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())) from error
    labels = {"query": query, "key": key}
    return Content(
        description,
        [
            Grid(name, values, query, key, words=info.title),
            Shaded(title, key, values[row]),
        ],
        [Table(method, ("query", "key"), values, labels, at)],
    )


def _covered(request: Request, chosen: Chosen) -> dict[str, Any]:
    """Coordinates of the sites that the numbers of a method are about, and how it fuses heads."""
    method, place = BY_NAME[chosen.name], request.site.where.coordinates
    if method.of != "tower":
        return place | ({"head": request.heads[0]} if method.of == "head" else {})
    fused = {name: getattr(chosen, name) for name in method.fused}
    return {name: place[name] for name in ("kind", "tower")} | fused


def _relevance(request: Request, method: str) -> Content:
    from viz.api import model

    found = _given(model.relevance(_entry(request), "", 0, method, request.selection.output))
    source, target = (
        None if site is None else request.shown.query_labels(request.shown.sites[site])
        for site in found["sites"]
    )
    what = _explained(request, found)
    info = BY_NAME[method]
    about = f"{info.title} for {what}, {_figures(found['value'])}; {together(found)}"
    panels: list[Panel] = []
    tables = []
    for name, labels, values in (
        ("token", source, found["values"]),
        ("token of the target", target, found["read"]),
    ):
        if labels is not None and values is not None:
            numbers = np.array(values)
            panels.append(Shaded(f"{about}: each {name}", labels, numbers, words="relevance"))
            named = {"token": labels}
            tables.append(Table(f"{method}, {name}", ("token",), numbers, named, {"of": what}))
    description = f"{info.title}. {info.shows}{_grouped(request, method)}"
    return Content(description, panels, tables)


def _explained(request: Request, relevance: Mapping[str, Any]) -> str:
    """What a relevance explains."""
    if relevance["similarity"]:
        return f"the similarity to “{request.selection.output}”"
    name = f"“{relevance['name']}”" if relevance["name"] else f"output {relevance['id']}"
    place = "" if relevance["position"] is None else f" at position {relevance['position']}"
    return f"the logit of {name}{place}"


def together(relevance: Mapping[str, Any]) -> str:
    """The sum of a relevance over all tokens, hidden ones included, and what no token gets."""
    hidden, rest = relevance["hidden"], relevance["unassigned"]
    parts = [f"all tokens together {_figures(relevance['total'])}"]
    parts += [f"{_figures(hidden)} of it on hidden tokens"] if hidden else []
    parts += [] if rest is None else [f"{_figures(rest)} unassigned"]
    return ", ".join(parts)


def _grouped(request: Request, method: str) -> str:
    """How the numbers of a method were grouped, as a sentence; "" for those of single tokens."""
    from viz.api.model import note_of

    note = note_of(request.shown, method)
    return f" {note[0].upper()}{note[1:]}." if note else ""


def _faithfulness(request: Request) -> Content:
    """The curves of each relevance that is chosen."""
    choice, relevances = request.selection, names_of("relevance")
    methods = [method for method in (choice.method, choice.beside) if method in relevances]
    if not methods:
        raise ValueError(
            f"method: expected one of {', '.join(relevances)}, whose faithfulness can be tested,"
            f" received {choice.method!r}"
        )
    parts = [_curves(request, method) for method in methods]
    return Content(
        " ".join(dict.fromkeys(part.description for part in parts)),
        [panel for part in parts for panel in part.panels],
        [table for part in parts for table in part.tables],
        layers=True,
        grouped=False,
        doubt=UNLIKE,
    )


def _curves(request: Request, method: str) -> Content:
    """What happens to the output without a relevance's tokens, and with them alone."""
    from viz.api import model
    from viz.api.pool import report
    from viz.figures import curves

    entry, output = _entry(request), request.selection.output
    what = _explained(request, _given(model.relevance(entry, "", 0, method, output)))
    first = _given(model.faithfulness(entry, "", 0, method, 0, output))
    orders = [first]
    for order in range(1, first["orders"]):
        report(order, first["orders"])
        orders.append(model.faithfulness(entry, "", 0, method, order, output))
    names = ["by relevance", *(f"random order {order}" for order in range(1, len(orders)))]
    counts, figures, tables = np.array(first["counts"]), [], []
    all_drops = np.array([[order[name] for name in CURVES] for order in orders])
    span = _room(float(all_drops.min()), float(all_drops.max()))
    for name, (title, places) in CURVES.items():
        values = np.array([order[name] for order in orders])
        random = values[1:]
        lines = {BY_NAME[method].title: values[0], "random orders, mean": random.mean(0)}
        band = (random.min(0), random.max(0))
        figure = curves(
            counts,
            lines,
            title=title,
            x=places,
            y="drop of the output",
            band=band,
            steps=True,
            span=span,
            height=CURVE,
        )
        figures.append(figure)
        labels = {"order": names, places: [str(count) for count in first["counts"]]}
        tables.append(Table(f"{method}, {name}", ("order", places), values, labels, {"of": what}))
    kept = "special ones and what the decoder reads stay" if first["read"] else "special ones stay"
    description = (
        f"Faithfulness: how far {what}, {_figures(first['value'])}, falls when tokens are"
        f" {REMOVED[first['removal']]}; {kept}. Band: {len(orders) - 1} random orders."
    )
    return Content(
        description, [Charts(f"Faithfulness of {BY_NAME[method].title}", figures)], tables
    )


def _room(low: float, high: float) -> tuple[float, float]:
    """The range of an axis with 0 on it, a little larger than that of the numbers."""
    low, high = min(0.0, low), max(LEAST, high)
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


LEAST = 0.01  # of the axis of a drop: smaller ones are noise
CURVE = 220  # height in pixels of Plotly
CURVES = {
    "comprehensiveness": (
        "Comprehensiveness: without the most relevant tokens (large is faithful)",
        "tokens removed",
    ),
    "sufficiency": (
        "Sufficiency: with the most relevant tokens alone (small is faithful)",
        "tokens kept",
    ),
}
REMOVED = {"mask": "masked", "drop": "left out", "grey": "painted grey"}
UNLIKE = "An input without tokens is unlike those the model was trained on."
FUSED = {
    "mean": "their mean weight",
    "max": "their largest weight in each cell",
    "min": "their smallest weight in each cell",
}
SHORT = {"mean": "", "max": ", largest of heads", "min": ", smallest of heads"}


def _short(chosen: Chosen) -> str:
    """The same behind a name, where heads are not fused by their mean."""
    fused = BY_NAME[chosen.name].fused
    words = SHORT[chosen.fusion] if "fusion" in fused else ""
    if "discard" in fused and chosen.discard:
        words += f", {100 * chosen.discard:g} % left out"
    return words


def fused_of(chosen: Chosen) -> str:
    """How the heads of a layer were fused, and which weights were left out."""
    fused = BY_NAME[chosen.name].fused
    if "fusion" not in fused:
        return ""
    words = f" A layer’s heads are fused by {FUSED[chosen.fusion]}."
    if "discard" in fused and chosen.discard:
        share = f"{100 * chosen.discard:g} %"
        words += f" The smallest {share} of each layer’s weights above 0 are left out."
    return words


# ---- all heads as dots


def _scatter(request: Request) -> Content:
    from viz.api import heads

    entry = _entry(request)
    answer = heads.numbers(entry, "")
    titles = {each["key"]: each["title"] for each in answer["measures"]} | {"layer": "layer"}
    sites = request.shown.sites
    names, places = _every_head(request)

    def along(key: str, dimension: int) -> list[float | None]:
        if key == "layer":
            return [float(site.layer) for site in sites for _ in range(site.heads)]
        if key == "similarity":
            points = heads.similarity(entry, "")["points"]
            return [None if p is None else p[dimension] for own in points for p in own]
        if key not in answer["values"]:
            raise ValueError(f"plot: expected keys of numbers of heads, received {key!r}")
        return [number for own in answer["values"][key] for number in own]

    keys = _axes(request.selection.plot, along)
    columns = [along(key, dimension) for dimension, key in enumerate(keys[:3])]
    values = np.array(columns, dtype=float).T
    titled = [
        f"similarity, axis {i + 1}" if key == "similarity" else titles[key]
        for i, key in enumerate(keys[:3])
    ]
    return Content(
        "One dot for each head, named layer·head, placed by its numbers on this text.",
        [Points("All heads", names, values, (titled[0], titled[1], titled[2]))],
        [Table("heads", ("head", "number"), values, {"head": names, "number": titled}, places)],
    )


def _every_head(request: Request) -> tuple[list[str], list[dict[str, Any]]]:
    """A name for each head, which no other has, and its coordinates."""
    sites = request.shown.sites
    several = len({site.layer for site in sites}) < len(sites)
    heads = [(site, head) for site in sites for head in range(site.heads)]
    names = [f"{site_name(site, sites) if several else site.layer}·{head}" for site, head in heads]
    return names, [site.where.coordinates | {"head": head} for site, head in heads]


def _axes(
    plot: Sequence[str], along: Callable[[str, int], list[float | None]]
) -> tuple[str, str, str]:
    """What is along x and y and in colour; what is not chosen is a number that is defined."""
    x, y, colour = [*plot, *[""] * (3 - len(plot))]
    if "similarity" in (x, y):
        return "similarity", "similarity", colour or "layer"
    first = [key for key in ("distance", "entropy") if any(n is not None for n in along(key, 0))]
    return x or (first[0] if first else "entropy"), y or "broad", colour or "layer"


def _numbers(request: Request) -> Content:
    """Every number of every head: a matrix of layers and heads for each."""
    from viz.api import heads

    answer, sites = heads.numbers(_entry(request), ""), request.shown.sites
    rows, most = [site_name(site, sites) for site in sites], max(site.heads for site in sites)
    panels: list[Panel] = []
    columns: dict[str, list[float]] = {}
    for measure in answer["measures"]:
        padded = np.full((len(sites), most), np.nan)
        for row, own in zip(padded, answer["values"][measure["key"]], strict=True):
            row[: len(own)] = [np.nan if number is None else number for number in own]
        columns[measure["key"]] = [
            number
            for row, site in zip(padded, sites, strict=True)
            for number in row[: site.heads].tolist()
        ]
        title = f"{measure['title']}: {measure['formula']}"
        reason = answer["reasons"].get(measure["key"])
        if np.isfinite(padded).any():
            numbered = [str(head) for head in range(most)]
            panels.append(Grid(title, padded, rows, numbered, words=measure["title"]))
        else:
            panels.append(Lines(title, [reason or "Not defined for any head."]))
    names, places = _every_head(request)
    labels = {"head": names, "number": [*columns]}
    values = np.array([*columns.values()], dtype=float).T
    return Content(
        "Every number of every head on this text: a row for each layer, a column for each head.",
        panels,
        [Table("heads", ("head", "number"), values, labels, places)],
        doubt="What a head does on one text need not be what it does on others.",
    )


def _vectors(request: Request) -> Content:
    """Queries and keys of a head on two principal components."""
    from viz.api import heads

    found = heads.vectors(_entry(request), "", request.index, request.heads[0])
    query, key = (
        request.shown.query_labels(request.site),
        request.shown.key_labels(request.site),
    )
    asks = [query[place] for place in found["query_indices"]]
    answers = [key[place] for place in found["key_indices"]]
    points = np.array(
        [(*at, kind) for kind, side in enumerate(("queries", "keys")) for at in found[side]]
    )
    first, second = (f"{100 * share:.0f} % of the variance" for share in found["explained"])
    axes = (f"component 1, {first}", f"component 2, {second}", "0: a query, 1: a key")
    short = Points("Queries and keys", [*asks, *answers], points, axes)
    at = request.site.where.coordinates | {"head": request.heads[0]}
    components = ["component 1", "component 2"]
    sides = (
        ("queries", "query", asks, found["query_indices"]),
        ("keys", "key", answers, found["key_indices"]),
    )
    return Content(
        "Queries and keys of one head on the two principal components of both together.",
        [short],
        [
            Table(
                *(name, (side, "component"), np.array(found[name], float).reshape(-1, 2)),
                labels={side: labels, "component": components},
                at=at,
                places={side: places},
            )
            for name, side, labels, places in sides
        ],
        doubt="The plane keeps only a part of what a score depends on.",
    )


FORMS: dict[str, Callable[[Request], Content]] = {
    "text": _text,
    "qk": _query_key,
    "stages": _stages,
    "model": _model,
    "faithfulness": _faithfulness,
    "scatter": _scatter,
    "numbers": _numbers,
    "vectors": _vectors,
}


def _entry(request: Request) -> "TraceEntry":
    from viz.export.page import text_entry

    return text_entry(request)


def _given(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer, unless it is one sentence that says why there is none."""
    if "why" in answer:
        raise ValueError(answer["why"])
    return answer


def _figures(value: float | None) -> str:
    return "−∞" if value is None else f"{value:.4g}".replace("-", "−")
