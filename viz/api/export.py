"""Responses with files: the figure that a view shows, its numbers, and Python code for it."""

import io
import re
from typing import TYPE_CHECKING, Any

from viz.api.entries import Download, ImageEntry, TextEntry
from viz.api.requests import QuestionError
from viz.api.text import site_at

if TYPE_CHECKING:
    from models.trace import Site
    from viz.export.request import One, Request

    Entry = TextEntry | ImageEntry

KINDS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
    "npz": "application/octet-stream",
    "csv": "text/csv; charset=utf-8",
}
FORMS = ("matrix", "lines", "atlas", "image")


def export(
    entry: "Entry",
    id: str,
    site: int,
    head: "One",
    form: str,
    format: str,
    scale: str = "fixed",
    shown: tuple[int, ...] = (),
    token: int | None = None,
    direction: str = "out",
) -> Download:
    """The figure of a view as a file."""
    from viz.export import render

    request = _request(entry, site, head, form, scale, shown, token, direction)
    try:
        data = render(request, form, f".{format}")
    except ValueError as error:
        raise QuestionError(str(error)) from error
    return Download(data, KINDS[format], f"{_name(request, form)}.{format}")


def python(
    entry: "Entry",
    id: str,
    site: int,
    head: "One",
    form: str,
    scale: str = "fixed",
    shown: tuple[int, ...] = (),
    token: int | None = None,
    direction: str = "out",
) -> dict[str, Any]:
    """Python code that makes the same figure."""
    request = _request(entry, site, head, form, scale, shown, token, direction)
    asked = [f"view={form!r}"]
    if form != "atlas":
        asked += _place(entry, request.site)
        heads = list(shown) if len(shown) > 1 else shown[0] if shown else head
        asked.append(f"head={heads!r}")
    if scale == "own":
        asked.append('scale="own"')
    if token is not None and form in ("lines", "image"):
        asked += [f"token={token}", f"direction={direction!r}"]
    if isinstance(entry, ImageEntry):
        asked.append(f"picture={entry.source}")
    lines = [
        entry.code(site, head),
        "",
        "from viz.export import export",
        "",
        f"export(t, {_name(request, form) + '.pdf'!r}, {', '.join(asked)})",
    ]
    return {"code": "\n".join(lines)}


def _request(
    entry: "Entry",
    site: int,
    head: "One",
    form: str,
    scale: str,
    shown: tuple[int, ...],
    token: int | None,
    direction: str,
) -> "Request":
    """What a file shows, validated.

    Raises:
        QuestionError: for a site, head or token that is not there, and a form that does not apply.
    """
    from viz.export.request import Request

    picture = isinstance(entry, ImageEntry)
    if picture != (form == "image"):
        raise QuestionError(f"expected {'image' if picture else 'matrix, lines or atlas'} as form")
    found = site_at(entry.shown, site, head)
    for each in shown:
        site_at(entry.shown, site, each)
    inward = direction == "in"
    count = found.keys if inward else found.queries
    if token is not None and token >= count:
        raise QuestionError(f"expected token 0 to {count - 1}")
    return Request(
        entry.shown,
        found,
        shown or (head,),
        every=form == "atlas",
        scale=scale,
        token=token,
        inward=inward,
        picture=_pixels(entry) if isinstance(entry, ImageEntry) else None,
        entry=entry,
    )


def _pixels(entry: ImageEntry) -> Any:
    import numpy as np
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(entry.picture.data)).convert("RGB"))


def _place(entry: "Entry", site: "Site") -> list[str]:
    """What chooses the layer in Python."""
    same = [each for each in entry.shown.sites if each.layer == site.layer]
    place = [f"layer={site.layer}"]
    if len({each.kind for each in same}) > 1:
        place.append(f"kind={site.kind!r}")
    if sum(each.kind == site.kind for each in same) > 1:
        place.append(f"tower={site.tower!r}")
    return place


def _name(request: "Request", form: str) -> str:
    """A name for the file."""
    parts = [request.shown.model, form]
    if not request.every:
        parts += [f"layer-{request.site.layer}", f"head-{'-'.join(map(str, request.heads))}"]
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(parts)).strip("-.")[:120]
