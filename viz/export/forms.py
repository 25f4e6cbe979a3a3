"""The forms beside matrix and lines: what each shows, as parts of a figure and as named numbers.

A form is a function here and a line in `FORMS`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.drawing.panels import Grid, Lines, Panel, Points, Shaded
from viz.drawing.scales import weight_scale
from viz.export.request import (
    DOUBT,
    Request,
    labels_of,
    name_of,
    rows_and_columns,
    weights_of,
)

if TYPE_CHECKING:
    from viz.api.entries import TextEntry


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with named axes.

    Attributes:
        name: of the numbers.
        axes: a name for each axis.
        values: the numbers.
        labels: of the places along an axis, by its name.
    """

    name: str
    axes: tuple[str, ...]
    values: np.ndarray
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Content:
    """What a form shows.

    Attributes:
        says: what that is, in a sentence or two.
        panels: the parts of its figure.
        tables: its numbers.
        layers: whether it is about all layers together.
        doubt: what it does not prove.
    """

    says: str
    panels: Sequence[Panel]
    tables: Sequence[Table]
    layers: bool = False
    doubt: str = DOUBT


# ---- the text, shaded


def _text(request: Request) -> Content:
    """The weights of one token, or their mean, on the text itself; once for each head."""
    query, key = labels_of(request)
    rows, columns = rows_and_columns(request)
    inward, choice = request.inward, request.choice
    token = request.token if request.token is not None else rows.start
    span = columns if inward else rows
    if not choice.average and not 0 <= token - span.start < len(span):
        raise ValueError("token: expected one of the rows or columns that are shown")
    place = token - span.start
    maps = [weights_of(request, head) for head in request.heads]
    if choice.average:
        labels, asked = key, None
        says = "How much weight each token receives, averaged over all tokens."
        values = [weights.mean(0) for weights in maps]
    elif inward:
        labels, asked = query, key[place]
        says = f"How much weight each token gives to “{asked}” ({token})."
        values = [weights[:, place] for weights in maps]
    else:
        labels, asked = key, query[place]
        says = f"How much weight “{asked}” ({token}) gives to each token."
        values = [weights[place] for weights in maps]
    found = np.stack(values)
    own = request.scale == "own" or choice.average
    scale = weight_scale(float(found.max()) or 1.0 if own else 1.0)
    marked = place if labels == (key if inward else query) and not choice.average else None
    names = [name_of(head) for head in request.heads]
    return Content(
        says,
        [
            Shaded(name, labels, each, scale, marked=marked)
            for name, each in zip(names, found, strict=True)
        ],
        [Table("weight", ("head", "token"), found, {"head": names, "token": labels})],
    )


# ---- one pair, and one row


def _query_key(request: Request) -> Content:
    from viz.api.steps import pair_of

    choice, entry = request.choice, _entry(request)
    query, key = choice.query or 0, choice.key or 0
    found = pair_of(entry, "", request.index, request.heads[0], query, key)
    strips = [(each["name"], np.array(each["values"])) for each in found["strips"]]
    steps = [(s["name"], s["value"], s["how"]) for s in found["steps"]]
    lines = [f"{name} = {_figures(value)}   {how}" for name, value, how in steps]
    title = f"From “{found['query']}” ({query}) to “{found['key']}” ({key})"
    values = np.array([np.nan if value is None else value for _, value, _ in steps])
    return Content(
        f"{title}: query and key element by element, and the steps to the weight.",
        [
            *(Grid(name, each[None], words="element") for name, each in strips),
            Lines(title, [*lines, *found["applied"]]),
        ],
        [
            *(Table(name, ("element",), each) for name, each in strips),
            Table("step", ("step",), values, {"step": [name for name, _, _ in steps]}),
        ],
    )


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

    entry, query = _entry(request), request.choice.query or 0
    trace, site, head = call_of(entry, request.index, request.heads[0])
    found = stages(trace, site, head, token_of(entry, request.index, "out", query))
    labels = {
        "query": [trace.query_labels(site)[i] for i in found.rows],
        "key": [trace.key_labels(site)[i] for i in found.keys],
    }
    panels: list[Panel] = []
    tables = []
    for name, (title, rows, cols) in MATRICES.items():
        given = getattr(found, name)
        if given is None:
            panels.append(Lines(title, [found.reason]))
            continue
        values = np.atleast_2d(given.numpy(force=True).astype(np.float32))
        across = labels[rows] if name != "written" else [labels["query"][found.chosen]]
        down = labels.get(cols, ())
        panels.append(Grid(title, values, across, down, words=title))
        tables.append(Table(name, (rows, cols), values, {rows: across, cols: down}))
    label = trace.query_labels(site)[found.rows[found.chosen]]
    says = f"One head for “{label}” ({query}), from queries and keys to what it writes."
    return Content(says, panels, tables)


# ---- all layers together


def _model(request: Request) -> Content:
    """The map of a method where it has one, and a row of it; or the relevance of each token."""
    choice = request.choice
    methods = [method for method in (choice.method, choice.beside) if method]
    parts = [_method(request, method) for method in methods]
    return Content(
        " ".join(part.says for part in parts),
        [panel for part in parts for panel in part.panels],
        [table for part in parts for table in part.tables],
        layers=not {"norms", "added"} & {*methods},
        doubt=" ".join(dict.fromkeys(DOUBTS[method] for method in methods)),
    )


def _method(request: Request, method: str) -> Content:
    from viz.api import model

    entry, site = _entry(request), request.index
    if method in model.RELEVANCE:
        return _relevance(request, method)
    head = request.heads[0] if method == "norms" else "mean"
    query, key = (
        request.shown.query_labels(request.site),
        request.shown.key_labels(request.site),
    )
    row = request.choice.query or 0
    title = f"{NAMES[method]}, row of “{query[row]}” ({row})"
    says = f"{NAMES[method]}: {SAYS[method]}"
    if method not in model.MAPS:
        found = np.array(_given(model.row_of(entry, "", site, head, method, row))["values"])
        named = {"key": key}
        return Content(
            says, [Shaded(title, key, found, marked=None)], [Table(method, ("key",), found, named)]
        )
    try:
        values = model.whole_map(entry, site, head, method).numpy(force=True)
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())) from error
    labels = {"query": query, "key": key}
    return Content(
        says,
        [
            Grid(NAMES[method], values, query, key, words=NAMES[method]),
            Shaded(title, key, values[row]),
        ],
        [Table(method, ("query", "key"), values, labels)],
    )


def _relevance(request: Request, method: str) -> Content:
    from viz.api import model

    found = _given(model.relevance(_entry(request), "", 0, method, request.choice.output))
    source, target = (
        None if site is None else request.shown.query_labels(request.shown.sites[site])
        for site in found["sites"]
    )
    what = "the similarity" if found["similarity"] else f"the logit of output {found['id']}"
    rest = found["unassigned"]
    about = f"{NAMES[method]} for {what}, {_figures(found['value'])}"
    about += "" if rest is None else f"; {_figures(rest)} unassigned"
    panels: list[Panel] = []
    tables = []
    for name, labels, values in (
        ("token", source, found["values"]),
        ("token of the target", target, found["read"]),
    ):
        if labels is not None and values is not None:
            numbers = np.array(values)
            panels.append(Shaded(f"{about}: each {name}", labels, numbers, words="relevance"))
            tables.append(Table(f"{method}, {name}", ("token",), numbers, {"token": labels}))
    return Content(f"{NAMES[method]}: {SAYS[method]}", panels, tables)


NAMES = {
    "mean": "Mean of all heads",
    "max": "Maximum of all heads",
    "rollout": "Rollout",
    "flow": "Attention flow",
    "alti": "ALTI",
    "decompx": "DecompX",
    "norms": "Norms of the head",
    "added": "Norms of the layer",
    "gradient": "Attention × gradient",
    "chefer": "Relevance (Chefer)",
    "attnlrp": "Relevance (AttnLRP)",
}
SAYS = {
    "mean": "the mean weight over every head of every layer.",
    "max": "the largest weight that any head of any layer gives.",
    "rollout": "the layers’ mean weights, the residual connection as one half, multiplied.",
    "flow": "the largest stream that the weights of all layers, as pipes, can carry.",
    "alti": "how much nearer each token’s vector brings a token to its layer’s output, multiplied.",
    "decompx": "the length of each token’s part of the chosen token’s last hidden state.",
    "norms": "the length of the vector that each key adds.",
    "added": "the length of what each token adds, all heads and the residual connection together.",
    "gradient": "weights times their gradients, summed over layers, heads and queries.",
    "chefer": "positive products of weights and gradients, carried through the layers.",
    "attnlrp": "the output’s number handed back through every layer.",
}
AVERAGES = (
    "Attention weights are not contributions: values, norms and feed-forward networks do not enter."
)
LENGTHS = "A long vector need not be used by later layers, and vectors can cancel."
REMOVAL = "It is not proof that a token causes the output: removing tokens tests that."
DOUBTS = {
    **dict.fromkeys(("mean", "max", "rollout", "flow"), AVERAGES),
    "alti": "Feed-forward networks do not enter, and nearness of vectors is not use by later"
    " layers.",
    "decompx": f"Attention weights are taken as they are. {LENGTHS}",
    **dict.fromkeys(("norms", "added"), LENGTHS),
    **dict.fromkeys(("gradient", "chefer", "attnlrp"), REMOVAL),
}


# ---- all heads as dots


def _scatter(request: Request) -> Content:
    from viz.api import heads

    entry = _entry(request)
    answer = heads.numbers(entry, "")
    titles = {each["key"]: each["title"] for each in answer["measures"]} | {"layer": "layer"}
    sites = request.shown.sites
    names = [f"{site.layer}·{head}" for site in sites for head in range(site.heads)]

    def along(key: str, dimension: int) -> list[float | None]:
        if key == "layer":
            return [float(site.layer) for site in sites for _ in range(site.heads)]
        if key == "similarity":
            points = heads.similarity(entry, "")["points"]
            return [None if p is None else p[dimension] for own in points for p in own]
        if key not in answer["values"]:
            raise ValueError(f"plot: expected keys of numbers of heads, received {key!r}")
        return [number for own in answer["values"][key] for number in own]

    keys = _axes(request.choice.plot, along)
    columns = [along(key, dimension) for dimension, key in enumerate(keys[:3])]
    values = np.array(columns, dtype=float).T
    titled = [
        f"similarity, axis {i + 1}" if key == "similarity" else titles[key]
        for i, key in enumerate(keys[:3])
    ]
    return Content(
        "One dot for each head, named layer·head, placed by its numbers on this text.",
        [Points("All heads", names, values, (titled[0], titled[1], titled[2]))],
        [Table("heads", ("head", "number"), values, {"head": names, "number": titled})],
    )


def _axes(
    plot: Sequence[str], along: Callable[[str, int], list[float | None]]
) -> tuple[str, str, str]:
    """What is along x and y and in colour; what is not chosen is a number that is defined."""
    x, y, colour = [*plot, *[""] * (3 - len(plot))]
    if "similarity" in (x, y):
        return "similarity", "similarity", colour or "layer"
    first = [key for key in ("distance", "entropy") if any(n is not None for n in along(key, 0))]
    return x or (first[0] if first else "entropy"), y or "broad", colour or "layer"


FORMS: dict[str, Callable[[Request], Content]] = {
    "text": _text,
    "qk": _query_key,
    "stages": _stages,
    "model": _model,
    "scatter": _scatter,
}


def _entry(request: Request) -> "TextEntry":
    from viz.export.page import text_entry

    return text_entry(request)


def _given(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer, unless it is one sentence that says why there is none."""
    if "why" in answer:
        raise ValueError(answer["why"])
    return answer


def _figures(value: float | None) -> str:
    return "−∞" if value is None else f"{value:.4g}".replace("-", "−")
