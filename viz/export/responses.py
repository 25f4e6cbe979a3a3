"""Responses with files: the figure that a view shows, its numbers, and Python code for it."""

import re
from dataclasses import replace
from typing import Any, Literal

from viz.api import snippet
from viz.api.beside import second_of
from viz.api.endpoint import Download, QuestionError, check_place, endpoint
from viz.api.entries import TraceEntry
from viz.api.predictions import Code, predictions
from viz.export.files import FIGURES, render
from viz.selection import OF_FILES, Selection
from viz.values import words
from viz.views import FORM
from viz.views.request import One, Request, Second, check_tokens

KINDS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
    "npz": "application/octet-stream",
    "csv": "text/csv; charset=utf-8",
}


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
    both: Literal["", "second", "edits"] = "",
    **options: Any,
) -> Request:
    """What a file shows.

    `shown` are several heads instead of the one. `second` is the id of another trace of the same
    text, which a page shows beside the first, or of another picture; `there` its layer and head, as
    the view of the first holds them; the labels stand before the titles of a figure of both. `both`
    is what a figure has side by side: "second", that trace beside the first; "edits", the pass
    without its edits, with them, and the difference; "" for the one alone.

    Raises:
        QuestionError: for a head or token that is not there, and a form that does not apply.
    """
    known = [name for name in FORM if _applies(name, entry)]
    if form not in known:
        raise QuestionError(f"expected {', '.join(known)} as form")
    for each in shown:
        check_place(entry.sites, site, each)
    selection = Selection(**options)
    request = Request(
        entry,
        entry.view.sites[site],
        shown or (head,),
        every=FORM[form].covers == "every",
        selection=selection,
        words=words,
        chosen=head if head in shown else None,
    )
    check_tokens(request)
    if both == "edits":
        return _before_and_after(request, form)
    if not second and both:
        raise QuestionError("expected a second result for a figure of both")
    if not second:
        return request
    other = second_of(second, entry.kind)
    check_place(other.sites, second_site, second_head)
    plain = replace(selection, token=second_token, rows=None, columns=None, query=None, key=None)
    plain = replace(plain, values="weights") if plain.values == "difference" else plain
    theirs = Request(
        other,
        other.view.sites[second_site],
        (second_head,),
        selection=plain,
        words=words,
        label=second_label,
    )
    check_tokens(theirs)
    request = replace(request, label=label)
    if not both:
        return replace(request, second=Second(second, theirs, there))
    return replace(request, beside=(replace(theirs, second=Second("", request, "")),))


@endpoint("export", keywords=_request, form=words(*FORM), format=words(*KINDS))
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


@endpoint("python", explains=False, keywords=_request, form=words(*FORM))
def python(entry: TraceEntry, site: int, head: One, form: str, **options: Any) -> Code:
    """Python code that makes the same figure, and prints the numbers in it."""
    request = _request(entry, site, head, form, **options)
    about, chosen = FORM[form], request.selection
    answer = predictions(entry, site, chosen.direction, chosen.token)
    of_head = about.of_weights and not request.every
    code = snippet.code(entry, site if of_head else None, head, answer)
    given, asked = snippet.inputs(entry), [f"view={form!r}"]
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
