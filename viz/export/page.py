"""A self-contained page: the view itself, its code and its data. It needs no server, no network."""

from typing import TYPE_CHECKING, Any

from viz.api.endpoint import answered, path_of
from viz.api.text import is_short
from viz.selection import OF_ANSWERS, OF_VIEWS
from viz.views import FORM, VIEWS
from viz.views.head.view import pair_of
from viz.views.pictures import view as pictures
from viz.views.request import Request, Second, title_of

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

LARGEST = 2 * 2**20  # bytes of a page with whatever fits beside the heads that were asked for
EXACT = 40_000  # weights up to which the exact rows are held too
ID = "page"
BESIDE = "second"  # the id of a second trace on a page
SECOND = f"{BESIDE}/"  # before the paths that are answered from it


def page(request: Request, view: str) -> bytes:
    """The page; it holds the heads that were asked for, then as many others as fit."""
    from viz.web import standalone

    title = title_of(request)
    props = props_of(request, view)
    held: dict[str, bytes] = {}
    later: list[tuple[str, str, TraceEntry]] = []  # name, path and what answers it
    for name, each in (("", request), (SECOND, request.second and request.second.request)):
        if each is None:
            continue
        entry, (wanted, more) = each.entry, asked(each, view)
        held |= {name + path: answered(entry, path) for path in wanted}
        later += [(name, path, entry) for path in more]
    if request.second is not None and not request.entry.patches:
        held |= _of_both(request, request.second)
    size = len(standalone.page(held, props, title=title))
    for name, path, entry in later:
        payload = answered(entry, path)
        size += 4 * len(payload) // 3 + len(name + path) + 8
        if size > LARGEST:
            break
        held[name + path] = payload
    return standalone.page(held, props, title=title).encode()


def _of_both(request: Request, second: Second) -> dict[str, bytes]:
    """What the view asks about both traces, where the second is called `BESIDE`."""
    entry = request.entry
    asks = [("aligned", {})]
    heads = [head for head in request.heads if isinstance(head, int)]
    asks += [("likeness", {"site": request.index, "head": head}) for head in heads]
    return {
        path_of(name, **place, second=BESIDE): answered(
            entry, path_of(name, **place, second=second.id)
        )
        for name, place in asks
    }


def props_of(request: Request, view: str) -> dict[str, Any]:
    """The props of the view; its form and what is chosen in it."""
    site, selection = request.site, request.selection  # chosen in an atlas, too
    start: dict[str, Any] = {"layer": site.layer, "attention": site.kind, "tower": site.tower}
    head = request.heads[0] if request.chosen is None else request.chosen
    start |= {"module": site.module, "part": site.part, "head": head}
    start |= {
        name: option.held(getattr(selection, name))
        for name, option in OF_VIEWS.items()
        if name in (*FORM[view].options, *OF_ANSWERS)
    }
    start |= {"scale": selection.scale} | FORM[view].opens
    token = request.row if view == "model" else selection.token
    if view == "pictures" and token is None and not selection.captions:
        token = pictures.panel_of(request).query
    start |= {} if token is None else {"token": token, "direction": selection.direction}
    if view == "head":
        start |= dict(zip(("token", "partner"), pair_of(request), strict=True))
    if request.second is not None:
        start["there"] = request.second.there
    if not request.every and len(request.heads) > 1:
        start["shown"] = ".".join(map(str, request.heads))
    props: dict[str, Any] = {"start": start}
    if view == "image" and selection.values == "difference":
        raise ValueError("values: a page of a picture holds weights, not what edits changed")
    if view == "matrix" and selection.values == "difference":
        props["difference"] = True
        start["values"] = "weights"  # of the other forms
    if request.second is not None:
        props |= _second(request, request.second)
    return props | {"kind": "image" if request.entry.patches else "text"}


def _second(request: Request, second: Second) -> dict[str, Any]:
    """The props that show another trace beside the first."""
    first, other = request.view, second.request.view
    names = (each.model if each.trained else f"{each.model}, untrained" for each in (first, other))
    labels = (request.label, second.request.label)
    title, other_title = (label or name for label, name in zip(labels, names, strict=True))
    beside = {"trace": BESIDE, "title": other_title, "aligned": True}
    return {"title": title, "second": beside}


def asked(request: Request, view: str) -> tuple[list[str], list[str]]:
    """The paths that the view asks for: at once, and later."""
    entry, sites, chosen = request.entry, request.view.sites, request.index
    screen = FORM[view].opens.get("form", view)
    asks = [path for form in (view, screen) for path in VIEWS[form].asks(request, entry)]
    if entry.pictures and not entry.patches:
        photos = [path_of("photo", number=number) for number in range(len(entry.pictures))]
        of_form = entry.asked or entry.compares
        about = VIEWS["pictures"].asks(request, entry) if of_form else ["objects"]
        asks += [*about, *photos]
    asks = [*dict.fromkeys(asks)]
    others = sorted(range(len(sites)), key=lambda site: abs(site - chosen))
    if request.entry.patches:
        as_text = [path_of("map", site=chosen, head=request.heads[0])]
        shared = as_text if FORM[view].module in ("matrix", "head") else []
        asks = [*dict.fromkeys([*VIEWS["image"].asks(request, entry), *shared, *asks])]
        return asks, [path_of("layer", site=site) for site in others if site != chosen]
    heads = request.heads
    wanted = [path_of("overview"), *(path_of("map", site=chosen, head=head) for head in heads)]
    changed = {"values": "difference"} if request.selection.values == "difference" else {}
    more = []
    if not is_short(request.view):
        more += [path_of("thumbs", site=site) for site in range(len(sites))]
    queries = sites[chosen].queries
    if queries * sites[chosen].keys * len(heads) <= EXACT:
        rows = [
            {"head": head, "axis": "query", "index": i, **changed}
            for head in heads
            for i in range(queries)
        ]
        more += [path_of("row", site=chosen, **row) for row in rows]
    for site in others:
        every = (*range(sites[site].heads), "mean", "max")
        more += [path_of("map", site=site, head=head, **changed) for head in every]
    wanted = [*dict.fromkeys([*wanted, *asks])]
    return wanted, [path for path in more if path not in wanted]
