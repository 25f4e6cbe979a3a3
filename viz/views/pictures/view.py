"""Where a word of an answer, or another token, looked on pictures beside a text; or captions."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis.percent import percent as in_percent
from viz.api import text
from viz.api.endpoint import path_of
from viz.api.entries import TraceEntry, tokens_of
from viz.colours import Scale, layer_of, strength_of
from viz.selection import OF_ANSWERS, Form
from viz.views.answer import Table
from viz.views.over import OverPictures, Sheet, Sides, figure
from viz.views.pictures import numbers
from viz.views.request import DOUBT, One, Request, name_of

if TYPE_CHECKING:
    from models.picture_grid import Box, PictureGrid
    from models.trace import Site

__all__ = ["VIEW", "answer", "asks", "figure", "panel_of"]
VIEW = Form(
    "pictures",
    "Over the pictures",
    "Where a word of an answer, or another token, looked on the pictures beside the text; or"
    " the captions of a picture, their similarities and maps",
    place=13,
    options=("token", "sinks", *OF_ANSWERS),
    grouped=False,
    runs=True,
    chooses=(("form", "matrix"),),
    texts=False,
    answers=True,
)
WEIGHT = "attention weight, square-root scale"
SIGNED = "weights times gradient, square-root scale on both sides of 0"
RELEVANCE = "relevance for the similarity, square-root scale"
NOT_APART = (
    "A map says what raises the similarity to its caption, not what tells two captions apart."
)
PARTS = {"image": "the picture", "sinks": "sinks", "text": "other text"}  # of a row
WORDS = 24  # of an answer, whose weights, shares and heads a page holds
Placed = tuple[str, np.ndarray | None, list[tuple[int, Sides]], list[Sides]]


class Looked(NamedTuple):
    """Numbers on the grids, and what files say of them.

    Attributes:
        name: of the numbers.
        words: of their colours.
        maps: "head row col" of each grid; of all heads together, "1 row col".
        titles: of each head.
        about: coordinates of all.
        description: what they are.
    """

    name: str
    words: str
    maps: Sequence[np.ndarray]
    titles: Sequence[str]
    about: dict[str, Any]
    description: str


@dataclass(frozen=True, eq=False)
class Panel:
    """What looks at the pictures, and where they are.

    Attributes:
        request: what is shown.
        entry: the trace and what is known of it.
        site: the layer, of the trace.
        label: of the word or token that looks.
        rows: of the trace, whose mean is drawn.
        answered: whether it is a word of an answer.
    """

    request: Request
    entry: TraceEntry
    site: "Site"
    label: str
    rows: tuple[int, ...]
    answered: bool

    @cached_property
    def grids(self) -> "tuple[PictureGrid, ...]":
        """Where the keys of the layer lie."""
        return self.entry.trace.key_pictures(self.site)

    @property
    def query(self) -> int:
        """The first of the rows, among those of the view."""
        return _places(self.request, self.request.index, self.rows)[0]

    @property
    def span(self) -> dict[str, Any]:
        """The rows as requests have them."""
        return {"first": self.rows[0], "last": self.rows[-1]}

    @property
    def area(self) -> "tuple[int, Box] | None":
        """The picture and the area of it; None without one."""
        chosen = self.request.selection.area
        return numbers.area_of(chosen) if chosen else None

    @property
    def asked(self) -> dict[str, Any]:
        """The area as requests have it."""
        frame = {"frame": self.frames[0]} if self.frames else {}
        return {"area": self.request.selection.area, **frame}

    @property
    def frames(self) -> tuple[int, ...]:
        """Of a video, the frames that are shown; () for pictures."""
        groups = [*dict.fromkeys(grid.frames for grid in self.grids if grid.frames)]
        if not self.entry.video or not groups:
            return ()
        return groups[min(self.request.selection.moment, len(groups) - 1)]


def panel_of(request: Request) -> Panel:
    """The panel; of an answer the first word looks where none is chosen.

    Raises:
        ValueError: for a token that is not there, and without a token where there is no answer.
    """
    entry, chosen = request.entry, request.selection.token
    site, answer = text.own_site(entry, request.index), numbers.answer(entry)
    words = answer.words if request.index in answer.sites else []
    if chosen is None and not words:
        raise ValueError("token: expected the one that looks at the pictures, received None")
    labels = request.view.query_labels(request.site)
    if chosen is not None and not 0 <= chosen < len(labels):
        raise ValueError(f"token: expected 0 to {len(labels) - 1}, received {chosen}")
    rows = () if chosen is None else tokens_of(request.view, request.index, "out")[chosen]
    for each in words:
        if not each.special if chosen is None else {*rows} & {*each.rows}:
            return Panel(request, entry, site, each.text, (*each.rows,), True)
    return Panel(request, entry, site, labels[chosen or 0].strip(), (*rows,) or (0,), False)


def answer(request: Request) -> OverPictures:
    """What a word or token looked at, what speaks for it, or the captions."""
    entry, chosen = request.entry, request.selection
    if chosen.captions and (chosen.caption or chosen.token is None) and entry.compares:
        return _captions(request, entry)
    if not entry.trace.key_pictures(text.own_site(entry, request.index)):
        layer = request.site.layer
        raise ValueError(f"layer: expected one that looks at a picture, received {layer}")
    panel = panel_of(request)
    again = panel.answered and (chosen.rival or chosen.relevant)
    looked = _for_word(panel) if again else _weights(panel)
    whole = looked.name == "relevance"
    tables = [_table(panel, looked, number) for number in range(len(panel.grids))]
    tables += [_shares(panel)] if panel.answered and not whole else []
    description = looked.description
    if not whole and (needed := _need(panel)) is not None:
        description, tables = f"{description} {needed[0]}", [*tables, needed[1]]
    return OverPictures(
        description=description,
        tables=tables,
        layers=whole,
        doubt="It tells what a small change would do."
        if whole
        else f"{DOUBT} Attended is not needed.",
        groups=_groups(looked, _sheets(panel)),
    )


def _captions(request: Request, entry: TraceEntry) -> OverPictures:
    """The captions, the most similar first, each with its map."""
    result = numbers.captions(entry, request.selection.captions).captions
    result = sorted(result, key=lambda each: -each.similarity)
    maps = np.stack([each.relevance.numpy(force=True) for each in result])
    grid = next(grid for site in entry.trace.sites for grid in entry.trace.key_pictures(site))
    photo = _pixels(entry, 0)
    names = [f"{_signed(each.similarity)} “{each.text}”" for each in result]
    texts = {"caption": [each.text for each in result]}
    similarities = np.array([each.similarity for each in result])
    title = "Similarity of the picture to each caption, as the model scales it"
    looked = Looked("relevance", RELEVANCE, [*maps[:, None]], [title], {}, "")
    return OverPictures(
        description="Which patches speak for each caption: weights times gradient of the"
        " similarity, carried through the vision tower (Chefer et al. 2021). Brighter is more"
        " relevance.",
        tables=[
            Table("similarity", ("caption",), similarities, texts),
            Table("relevance", ("caption", "row", "col"), maps, texts),
        ],
        layers=True,
        doubt=NOT_APART,
        groups=_groups(
            looked, [(name, photo, [(n, grid.box)], []) for n, name in enumerate(names)]
        ),
    )


def _signed(number: float) -> str:
    """Two digits."""
    return f"{number:.2f}".replace("-", "−")


def percent(share: float) -> str:
    """ "42 %", "3.1 %"."""
    if share < 0.0001:
        return f"< {in_percent(0.0001, '.2f')}"
    return in_percent(share, ".0f" if share >= 0.0995 else ".2g")


# ---- numbers


def _weights(panel: Panel) -> Looked:
    """The weights of each head."""
    from analysis import grounding

    trace, site, request = panel.entry.trace, panel.site, panel.request
    sinks = request.selection.sinks
    at_rest = () if sinks == "shown" else grounding.sinks(trace, site)
    weights = grounding.weights_of(trace, site, panel.rows).clone()
    weights[:, list(at_rest)] = 0
    rows = [text.of_head(weights, head) for head in request.heads]
    shares = _shares(panel).values.tolist() if panel.answered else [()] * len(rows)
    titles, there = [], _within(panel)
    for head, row, parts in zip(request.heads, rows, shares, strict=True):
        said = [f"{percent(p)} on {where}" for p, where in zip(parts, PARTS.values(), strict=False)]
        if there is not None:
            said.append(f"{percent(float(row[there].sum()))} on the outlined area")
        titles.append(f"{name_of(head)}: {', '.join(said)}" if said else name_of(head))
    maps = [
        np.stack([grounding.on_grid(row, grid).numpy(force=True) for row in rows])
        for grid in panel.grids
    ]
    verb = "while the model wrote" if panel.answered else "from"
    about = (
        f"Where attention went {verb} “{panel.label}”: the weight of each image token."
        " Brighter is more weight."
        + " Tokens that take weight at rest are left out."
        * bool(at_rest)
    )
    return Looked("weight", WEIGHT, maps, titles, {}, about)


def _for_word(panel: Panel) -> Looked:
    """What speaks for the word, and what for a rival."""
    result = numbers.versus(panel.entry, panel.rows[0], panel.request.selection.rival)
    maps = [each.numpy(force=True)[None] for each in result.maps]
    word, other, number = result.word, result.rival, _signed(result.difference)
    title = f"Relevance for “{word}”, whose logit is {number}"
    if other:
        title = (
            f"The logit of “{word}” less that of “{other}” is {number}: what speaks for “{word}” is"
            f" above 0, what for “{other}” below"
        )
    about = {"rival": other} if other else {}
    description = "Weights times gradient, summed over all heads and layers, for each image token."
    about |= {"logit": result.difference}
    return Looked("relevance", SIGNED, maps, [title], about, description)


def _need(panel: Panel) -> tuple[str, Table] | None:
    """Whether the word needs the area, in a sentence and in numbers; None where none is tested."""
    if panel.area is None or not panel.answered or panel.entry.opened is None:
        return None
    result = numbers.need(panel.entry, **panel.asked, **panel.span)
    there = ", ".join(map(percent, result.elsewhere))
    others = f", and with areas of the same size elsewhere {there}" if there else ""
    said = (
        f"“{panel.label}” has the probability {percent(result.before)} with the picture as it is,"
        f" {percent(result.after)} with the outlined area in the picture’s mean colour{others}."
    )
    names = ["as it is", "this area", *(f"area {n + 1}" for n in range(len(result.elsewhere)))]
    about = {"word": panel.label, "area": panel.request.selection.area}
    values = np.array([result.before, result.after, *result.elsewhere])
    return said, Table("probability", ("hidden",), values, {"hidden": names}, about)


def _shares(panel: Panel) -> Table:
    """The shares of the word's weight on the pictures, on sinks and on other text, by head."""
    import torch

    heads = panel.request.heads
    result = numbers.shares(panel.entry, panel.request.index, **panel.span)
    parts = torch.stack([getattr(result, part) for part in PARTS], 1)
    each = np.stack([text.of_head(parts, head).numpy(force=True) for head in heads])
    at = [_coordinates(panel, head) for head in heads]
    return Table("share", ("head", "where"), each, {"where": [*PARTS.values()]}, at)


def _table(panel: Panel, looked: Looked, number: int) -> Table:
    """The numbers on one of the grids."""
    grid, values = panel.grids[number], looked.maps[number]
    name = f"{looked.name} {number + 1}" if len(panel.grids) > 1 else looked.name
    there: dict[str, Any] = {"picture": grid.picture + 1}
    there |= {"on": _name(grid)} if _name(grid) else {}
    if (*grid.box,) != (0, 0, 1, 1):  # left, top, right and bottom of what the cells cover
        there["box"] = " ".join(f"{side:.4f}" for side in grid.box)
    there |= looked.about
    if looked.name == "relevance":
        return Table(name, ("row", "col"), values[0], {}, {"word": panel.label, **there})
    at = [{**_coordinates(panel, head), **there} for head in panel.request.heads]
    return Table(name, ("head", "row", "col"), values, {}, at)


def _coordinates(panel: Panel, head: One) -> dict[str, Any]:
    """Of the numbers of a head."""
    return {**panel.request.site.where.coordinates, "head": head, "word": panel.label}


# ---- pictures


def _groups(
    looked: Looked, placed: Sequence[Placed]
) -> list[tuple[str, Sequence[Sheet], Scale | None]]:
    """The pictures of each head, with their colours."""
    groups = []
    for number, title in enumerate(looked.titles):
        maps = [each[number] for each in looked.maps]
        every = np.concatenate([each.ravel() for each in maps])
        most = float(np.nanmax(np.abs(every), initial=0)) or 1.0
        ends = ("signed", -most) if looked.words == SIGNED else ("root", 0)
        scale = Scale(*ends, most, looked.words, "dark")
        strength = strength_of(every) if looked.words == WEIGHT else 1.0
        layers = [layer_of(np.nan_to_num(each), scale, strength) for each in maps]
        sheets = [
            Sheet(name, photo, [(layers[n], box) for n, box in grids], frames, (), scale.low < 0)
            for name, photo, grids, frames in placed
        ]
        groups.append((title, sheets, scale))
    return groups


def _sheets(panel: Panel) -> list[Placed]:
    """The pictures, or the frames that share tokens, with the grids and areas on them."""
    from models.picture_grid import frame_name

    grouped: dict[tuple[int, str], list[tuple[int, Sides]]] = {}
    for number, grid in enumerate(panel.grids):
        if not panel.frames or grid.frames == panel.frames:
            name = _name(grid) if grid.frames else ("tiles" if grid.name else "")
            grouped.setdefault((grid.picture, name), []).append((number, grid.box))
    count, entry = max(1, len(panel.entry.pictures)), panel.entry
    several = count > 1 or len({grid.picture for grid in panel.grids}) > 1
    whole = "" if len({grid.name for grid in panel.grids}) == 1 else "whole"
    sheets = []
    for (picture, name), grids in grouped.items():
        outlined = _looking(panel, picture)
        if panel.area is not None and panel.area[0] == picture:
            outlined.append(panel.area[1])
        names = [f"picture {picture + 1}" if several else "", name or whole]
        titles = {picture: ", ".join(filter(None, names))}
        if panel.frames:
            titles = {each: frame_name([each]) for each in panel.frames if each < count}
        sheets += [(title, _pixels(entry, each), grids, outlined) for each, title in titles.items()]
    return sheets


def _looking(panel: Panel, picture: int) -> list[Sides]:
    """The cells of what looks, where it lies on the picture itself."""
    grids = () if panel.answered else panel.entry.trace.query_pictures(panel.site)
    return [
        grid.cell(*at)
        for grid in grids
        if grid.picture == picture
        for place in panel.rows
        for at in (grid.places == place).nonzero().tolist()
    ]


def _pixels(entry: TraceEntry, number: int) -> np.ndarray | None:
    """A picture or frame; None where it is not known."""
    from PIL import Image

    if number >= len(entry.pictures):
        return None
    data, _ = numbers.photo(entry, number)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def _within(panel: Panel) -> list[int] | None:
    """The tokens of the area; None without one."""
    if panel.area is None:
        return None
    number, area = panel.area
    mine = [each for each in panel.grids if not panel.frames or each.frames == panel.frames]
    places = [each.within(area) for each in mine if each.picture == number]
    return sorted({*chain.from_iterable(places)})


def _name(grid: "PictureGrid") -> str:
    """Of the part of a picture, or of the frames."""
    from models.picture_grid import frame_name

    return frame_name(grid.frames) if grid.frames else grid.name


# ---- a saved page


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """An answer, what its first words look at in the layer, what is on the screen; or captions."""
    chosen, site = request.selection, request.index
    if entry.compares:
        return ["objects", *([path_of("captions", texts=chosen.captions)] * bool(chosen.captions))]
    answer, paths = numbers.answer(entry), ["answer"]
    if site not in answer.sites or not answer.words:
        return paths
    panel = None if chosen.inward else panel_of(request)
    first = [panel.rows] if panel is not None and panel.answered else []
    words = [(*word.rows,) for word in answer.words[:WORDS]]
    for rows in dict.fromkeys([*first, *words]):
        span = {"first": rows[0], "last": rows[-1]}
        paths += [path_of("shares", site=site, **span), path_of("ranked", **span)]
        for place in _places(request, site, rows):
            at = {"site": site, "axis": "query", "index": place}
            paths += [path_of("row", head=head, **at) for head in request.heads]
    if panel is None:
        return paths
    if panel.answered and entry.opened is not None:  # what was asked of the model again
        if chosen.rival or chosen.relevant:
            paths.append(path_of("versus", row=panel.rows[0], rival=chosen.rival))
        elif panel.area is not None:
            paths.append(path_of("need", **panel.asked, **panel.span))
    if panel.area is not None and not answer.unplaced:
        paths += [path_of("readers", site=site, head=h, **panel.asked) for h in request.heads]
    return paths


def _places(request: Request, site: int, rows: Sequence[int]) -> list[int]:
    """The queries of the view that hold rows of the trace."""
    origins = tokens_of(request.view, site, "out")
    return [place for place, group in enumerate(origins) if {*group} & {*rows}]
