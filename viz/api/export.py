"""Responses with files: the figure that a view shows, its numbers, and Python code for it."""

import ast
import io
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from viz.api.entries import Download, Patches, TraceEntry
from viz.api.requests import QuestionError
from viz.api.text import site_at, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viz.export.request import One, Request


KINDS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
    "npz": "application/octet-stream",
    "csv": "text/csv; charset=utf-8",
}
FORMS = (
    *("matrix", "lines", "atlas", "text", "qk", "stages", "model", "faithfulness", "scatter"),
    *("numbers", "vectors", "image"),
)
FILTERS = ("values", "sinks", "outliers", "least", "top", "rows", "columns")
CHOICES = (
    *("query", "key", "average", "layers", "plot", "ground", "paint", "opacity"),
    *("method", "beside", "output", "tested", "fusion", "discard"),
    *("beside_fusion", "beside_discard"),
)
HIDDEN = {"alti", "decompx", "norms"}  # of the whole model, methods that read hidden states
TRACED = re.compile(r"^t = trace\(model, (.*)\)$", re.MULTILINE)


def export(
    entry: TraceEntry,
    id: str,
    site: int,
    head: "One",
    form: str,
    format: str,
    **options: Any,
) -> Download:
    """The figure of a view as a file; see `_request` for the options."""
    from viz.export import render

    request = _request(entry, site, head, form, **options)
    try:
        data = render(request, form, f".{format}")
    except ValueError as error:
        raise QuestionError(str(error)) from error
    return Download(data, KINDS[format], f"{_name(request, form)}.{format}")


def python(
    entry: TraceEntry, id: str, site: int, head: "One", form: str, **options: Any
) -> dict[str, Any]:
    """Python code that makes the same figure."""
    from viz.api.model import RELEVANCE
    from viz.export.request import EVERY, WHOLE, Choice, Filters

    request = _request(entry, site, head, form, **options)
    shown, token = options.get("shown", ()), request.token
    asked = [f"view={form!r}"]
    if form not in EVERY:
        asked += entry.shown.address(request.site).arguments
        heads = list(shown) if len(shown) > 1 else shown[0] if shown else head
        asked.append(f"head={heads!r}")
    if request.scale != "fixed":
        asked.append(f"scale={request.scale!r}")
    if token is not None and form in ("lines", "text", "image"):
        asked += [f"token={token}", f"direction={'in' if request.inward else 'out'!r}"]
    asked += [
        f"{name}={value!r}"
        for part, default in ((request.filters, Filters()), (request.choice, Choice()))
        for name, value in asdict(part).items()
        if value != getattr(default, name)
    ]
    if entry.patches is not None:
        asked.append(f"picture={entry.patches.source}")
    code = entry.code(site, head)
    methods = {request.choice.method, request.choice.beside} if form in WHOLE else set()
    if methods & HIDDEN:
        code = TRACED.sub(r"t = trace(model, \1, hidden=True)", code)
    name = f"{_name(request, form)}.pdf"
    lines = ["from viz.export import export", ""]
    if relevant := sorted(methods & {*RELEVANCE}):
        given = _given(code)
        asked.append(f"run=({', '.join(['model', *given])})")
        explained = _explained(given, relevant, request.choice.output)
        lines = ["from analysis.relevance import explain", lines[0], "", *explained]
    lines.append(f"export(t, {name!r}, {', '.join(asked)})")
    return {"code": "\n".join([code, "", *lines])}


def _given(code: str) -> list[str]:
    """What is traced in this code: the input and, of an encoder–decoder, what the decoder reads."""
    found = TRACED.search(code)
    call = ast.parse(f"trace({found[1] if found else 'text'})", mode="eval").body
    return [ast.unparse(part) for part in call.args] if isinstance(call, ast.Call) else []


def _explained(given: "Sequence[str]", methods: "Sequence[str]", output: str) -> list[str]:
    """Lines with the relevance of each token, by each method."""
    arguments = [f"model, {given[0]}", *(f"written={part}" for part in given[1:])]
    if output:
        arguments.append(f"target={output!r}")
    asked = ", ".join(arguments)
    return [f"explain({asked}, method={method!r}).tokens" for method in methods]


def _request(
    entry: TraceEntry,
    site: int,
    head: "One",
    form: str,
    *,
    scale: str = "fixed",
    shown: tuple[int, ...] = (),
    token: int | None = None,
    direction: str = "out",
    words: bool = True,
    **options: Any,
) -> "Request":
    """What a file shows, validated.

    Args:
        entry: the trace and what is known of it.
        site: index of the site.
        head: its head.
        form: of the figure.
        scale: of its colours.
        shown: several heads instead of the one.
        token: the pinned one.
        direction: whether it attends or is attended to.
        words: whether title and caption are drawn.
        options: the fields of `Filters` and `Choice`.

    Raises:
        QuestionError: for a site, head or token that is not there, and a form that does not apply.
    """
    from viz.export.request import EVERY, Choice, Filters, Request

    picture = entry.patches is not None
    if picture != (form == "image"):
        known = "image" if picture else ", ".join(FORMS[:-1])
        raise QuestionError(f"expected {known} as form")
    found = site_at(entry.shown, site, head)
    for each in shown:
        site_at(entry.shown, site, each)
    layers = {site.layer for site in entry.shown.sites}
    if not layers.issuperset(options.get("layers", ())):
        raise QuestionError(f"expected layers of 0 to {max(layers)}")
    inward = direction == "in"
    places = {"token": token, "query": options.get("query"), "key": options.get("key")}
    counts = {"token": found.keys if inward else found.queries}
    counts |= {"query": found.queries, "key": found.keys}
    for name, place in places.items():
        if place is not None and place >= counts[name]:
            raise QuestionError(f"expected {name} 0 to {counts[name] - 1}")
    for name, count in (("rows", found.queries), ("columns", found.keys)):
        if options.get(name) is not None:
            options[name] = within(name, options[name], count)
    return Request(
        entry.shown,
        found,
        shown or (head,),
        every=form in EVERY,
        scale=scale,
        token=token,
        inward=inward,
        picture=None if entry.patches is None else _pixels(entry.patches),
        entry=entry,
        words=words,
        filters=Filters(**{name: options[name] for name in FILTERS if name in options}),
        choice=Choice(**{name: options[name] for name in CHOICES if name in options}),
    )


def _pixels(patches: Patches) -> Any:
    import numpy as np
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(patches.picture.data)).convert("RGB"))


def _name(request: "Request", form: str) -> str:
    """A name for the file."""
    parts = [request.shown.model, form]
    if not request.every:
        layer, *others = vars(request.shown.address(request.site)).values()
        parts += [f"layer-{layer}", *(str(each) for each in others if each is not None)]
        parts.append(f"head-{'-'.join(map(str, request.heads))}")
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(parts)).strip("-.")[:120]
