"""Responses with files: the figure that a view shows, its numbers, and Python code for it."""

import ast
import re
from dataclasses import replace
from typing import Any

from viz.api import snippet
from viz.api.beside import second_of
from viz.api.endpoint import endpoint
from viz.api.entries import Download, TraceEntry
from viz.api.predictions import Code, predictions
from viz.api.requests import QuestionError
from viz.api.text import site_at, within
from viz.export.files import FIGURES, render
from viz.selection import OF_FILES, OF_VIEWS, Selection
from viz.values import FLAG, HEAD, NUMBER, TEXT, words
from viz.views import FORM
from viz.views.request import One, Request, Second

KINDS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
    "npz": "application/octet-stream",
    "csv": "text/csv; charset=utf-8",
}
FIGURE: dict[str, Any] = {
    "form": words(*FORM),
    **{name: OF_VIEWS[name].kind for name in ("shown", "there")},
    **{name: FLAG if name == "words" else TEXT for name in ("words", "label", "second_label")},
    "second": TEXT,
    "second_site": NUMBER,
    "second_head": HEAD,
    "second_token": NUMBER,
    "both": words("second", "edits"),
}
TRACED = re.compile(r"^t = hs\.trace\(model, (.*)\)$", re.MULTILINE)


@endpoint("export", format=words(*KINDS), **FIGURE)
def export(
    entry: TraceEntry,
    site: int,
    head: One,
    form: str,
    format: str,
    **options: Any,
) -> Download:
    """The figure of a view as a file; see `_request` for the options."""
    request = _request(entry, site, head, form, **options)
    if request.beside and f".{format}" not in FIGURES:
        raise QuestionError("expected svg, pdf or png as format of figures side by side")
    try:
        data = render(request, form, f".{format}")
    except ValueError as error:
        raise QuestionError(str(error)) from error
    return Download(data, KINDS[format], f"{_name(request, form)}.{format}")


@endpoint("python", explains=False, **FIGURE)
def python(entry: TraceEntry, site: int, head: One, form: str, **options: Any) -> Code:
    """Python code that makes the same figure, and prints the numbers in it."""
    request = _request(entry, site, head, form, **options)
    about, chosen = FORM[form], request.selection
    answer = predictions(entry, site, chosen.direction, chosen.token)
    of_head = about.of_weights and not request.every
    code = snippet.code(entry, site if of_head else None, head, answer)
    given, asked = _given(code), [f"view={form!r}"]
    if not request.every:
        asked += entry.view.address(request.site).arguments
        heads = request.heads[0] if len(request.heads) == 1 else [*request.heads]
        asked.append(f"head={heads!r}")
    asked += [
        f"{name}={value!r}"
        for name, option in OF_FILES.items()
        if (value := getattr(chosen, name)) != option.default and name in ("scale", *about.options)
    ]
    if entry.patches:
        asked.append(f"picture={given[0]}")
    if about.runs or about.covers == "layers":
        asked.append(f"run=({', '.join(['model', *given])})")
    name, how = _name(request, form), ", ".join(asked)
    lines = [f"hs.export(t, {f'{name}.pdf'!r}, {how})"]
    if request.every and about.of_weights:
        lines += ["for site in t.sites:", "    print(site, t.weights(site))  # head × query × key"]
    elif not of_head:
        lines.append(f"print(hs.export(t, {f'{name}.csv'!r}, {how}).read_text())")
    return Code("\n".join([code, "", *lines]))


def _given(code: str) -> list[str]:
    """What is traced in this code: the input and, of an encoder–decoder, what the decoder reads."""
    match = TRACED.search(code)
    call = ast.parse(f"trace({match[1] if match else 'text'})", mode="eval").body
    return [ast.unparse(part) for part in call.args] if isinstance(call, ast.Call) else []


def _request(
    entry: TraceEntry,
    site: int,
    head: One,
    form: str,
    *,
    shown: tuple[int, ...] = (),
    words: bool = True,
    second: str = "",
    second_site: int = 0,
    second_head: One = 0,
    second_token: int | None = None,
    there: str = "",
    label: str = "",
    second_label: str = "",
    both: str = "",
    **options: Any,
) -> Request:
    """What a file shows, validated.

    Args:
        entry: the trace and what is known of it.
        site: index of the site.
        head: its head.
        form: of the figure.
        shown: several heads instead of the one.
        words: whether title and caption are drawn.
        second: id of another trace of the same text, which a page shows beside the first; or of
            another picture.
        second_site: index of its site.
        second_head: its head.
        second_token: of a picture, the token whose weights are drawn.
        there: both, as the view of the first holds them.
        label: of the first in a figure of both, before its title.
        second_label: of the second.
        both: what a figure has side by side: "second", that trace beside the first; "edits", the
            pass without its edits, with them, and the difference; "" for the one alone.
        options: those of `Selection`.

    Raises:
        QuestionError: for a site, head or token that is not there, and a form that does not apply.
    """
    known = [name for name in FORM if _applies(name, entry)]
    if form not in known:
        raise QuestionError(f"expected {', '.join(known)} as form")
    shown_site = site_at(entry.view, site, head)
    for each in shown:
        site_at(entry.view, site, each)
    inward = options.get("direction") == "in"
    counts = {"token": shown_site.keys if inward else shown_site.queries}
    counts |= {"query": shown_site.queries, "key": shown_site.keys}
    places = {name: options.get(name) for name in counts}
    for name, place in places.items():
        if place is not None and place >= counts[name]:
            raise QuestionError(f"expected {name} 0 to {counts[name] - 1}")
    for name, count in (("rows", shown_site.queries), ("columns", shown_site.keys)):
        if options.get(name) is not None:
            options[name] = within(name, options[name], count)
    selection, beside = Selection(**options), None
    if second:
        other = second_of(second, entry.kind)
        place = site_at(other.view, second_site, second_head)
        if second_token is not None and second_token >= min(place.queries, place.keys):
            raise QuestionError(f"expected second_token 0 to {min(place.queries, place.keys) - 1}")
        plain = replace(selection, rows=None, columns=None, query=None, key=None)
        plain = replace(plain, token=second_token)
        plain = replace(plain, values="weights") if plain.values == "difference" else plain
        theirs = Request(other, place, (second_head,), selection=plain)
        beside = Second(second, theirs, there)
    request = Request(
        entry,
        shown_site,
        shown or (head,),
        every=FORM[form].covers == "every",
        selection=selection,
        words=words,
        second=beside,
        chosen=head if head in shown else None,
    )
    if both == "edits":
        return _before_and_after(request, form)
    if not both and beside is not None:
        named = replace(beside, request=replace(beside.request, label=second_label))
        return replace(request, label=label, second=named)
    if not both:
        return request
    if beside is None:
        raise QuestionError("expected a second result for a figure of both")
    other = replace(beside.request, words=words, label=second_label)
    other = replace(other, second=Second("", request, ""))
    return replace(request, label=label, beside=(other,))


def _before_and_after(request: Request, form: str) -> Request:
    """Without the edits, with them, and the difference, side by side."""
    if form not in ("matrix", "image"):
        raise QuestionError("expected matrix or image as form of a figure before and after")
    before = request.entry.unedited
    after, difference = (
        replace(request, selection=replace(request.selection, values=values), label=label)
        for values, label in (("weights", "After"), ("difference", "Difference"))
    )
    plain = replace(after, entry=before, site=before.view.sites[request.index])
    return replace(plain, label="Before", beside=(after, difference))


def _applies(form: str, entry: TraceEntry) -> bool:
    """Whether a result has a form."""
    if entry.patches:
        return FORM[form].pictured
    of = FORM[form]
    heard = of.heard and entry.trace.sound is not None
    return of.texts or heard or (of.answers and bool(entry.pictures))


def _name(request: Request, form: str) -> str:
    """A name for the file."""
    parts = [request.view.model, form]
    if not request.every:
        layer, *others = vars(request.view.address(request.site)).values()
        parts += [f"layer-{layer}", *(str(each) for each in others if each is not None)]
        parts.append(f"head-{'-'.join(map(str, request.heads))}")
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(parts)).strip("-.")[:120]
