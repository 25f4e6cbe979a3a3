"""The weights of heads as lines between two columns of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.caption import noun_of
from viz.colours import INK
from viz.selection import CUT, PLACE, Form
from viz.views.answer import Answer, weight_tables
from viz.views.request import (
    One,
    Request,
    drawn_of,
    labels_of,
    name_of,
    rows_and_columns,
    top_of,
)
from viz.views.sinks import hidden_of, hidden_sentence

if TYPE_CHECKING:
    from viz.paper import Page

VIEW = Form(
    "lines",
    "Lines",
    "Each weight as a line between two columns of tokens",
    place=1,
    of_weights=True,
    options=(*PLACE, *CUT),
    module="lines",
)
LEAST = 0.01  # of the largest weight; fainter lines could not be seen
LEVELS = 24  # of opacity
THICK = 0.9  # of a line


@dataclass(frozen=True, eq=False, kw_only=True)
class Lines(Answer):
    """Weights between two columns of tokens.

    Attributes:
        heads: whose they are.
        maps: name and weights "query key" of each head.
        query: labels on the left.
        key: labels on the right.
        top: weight of a fully opaque line.
    """

    heads: Sequence[One]
    maps: Sequence[tuple[str, np.ndarray]]
    query: Sequence[str]
    key: Sequence[str]
    top: float


def answer(request: Request) -> Lines:
    """The weights of the heads; of one token alone where it is chosen."""
    maps = [(name_of(head), np.nan_to_num(drawn_of(request, head))) for head in request.heads]
    token, inward = request.selection.token, request.selection.inward
    start = rows_and_columns(request)[int(inward)].start
    if token is not None:
        if not 0 <= token - start < maps[0][1].shape[int(inward)]:
            raise ValueError("token: expected one of the rows or columns that are shown")
        alone = np.arange(maps[0][1].shape[int(inward)]) == token - start
        maps = [(name, weights * (alone if inward else alone[:, None])) for name, weights in maps]
    query, key = labels_of(request)
    description = (
        f"Each line is one weight, from a {noun_of(query)} on the left to a {noun_of(key)} it"
        " attends to; opacity is the square root of the weight, and weights below a hundredth of a"
        " full line are left out."
    )
    if token is not None:
        label = (key if inward else query)[token - start]
        description += f" Only the lines of “{label}” ({token}) are drawn."
    hidden = hidden_of(request, rows_and_columns(request)[0])
    description += f" {hidden_sentence(request, hidden)}" if hidden else ""
    return Lines(
        description=description,
        tables=weight_tables(request),
        heads=request.heads,
        maps=maps,
        query=query,
        key=key,
        top=top_of(request, maps),
    )


def figure(answer: Lines, page: "Page") -> None:
    """All heads between the same columns, each in its own colour."""
    from viz.paper import MARGIN, SMALL
    from viz.parts import label_size, longest, names_beside

    longer = max(len(answer.query), len(answer.key))
    pitch = min(11.0, 620.0 / longer)
    size = label_size(pitch) or SMALL
    side = max(longest([*answer.query, *answer.key], size, 120.0), 60) + 6
    left, right, top = MARGIN + side, page.wide - MARGIN - side, page.y + 14
    page.text(left, top - 5, "query: attends", SMALL, INK.muted, "right")
    page.text(right, top - 5, "key: attended to", SMALL, INK.muted)
    step = min(THICK, 0.8 * pitch / len(answer.maps))  # equal lines of heads lie side by side
    for i, (head, (_, weights)) in enumerate(zip(answer.heads, answer.maps, strict=True)):
        y = top + (i - (len(answer.maps) - 1) / 2) * step
        level = _levels(weights, answer.top)
        for each in sorted({*level.ravel().tolist()} - {-1}):
            query, key = y + (np.nonzero(level == each) + np.array(0.5)) * pitch
            ends = [np.full_like(query, left + 3), query, np.full_like(key, right - 3), key]
            page.strokes(np.stack(ends, 1), _colour(head), THICK, (each + 1) / LEVELS)
    names_beside(page, answer.query, left, top, pitch, most=120.0)
    names_beside(page, answer.key, right, top, pitch, "left", most=120.0)
    page.y = top + longer * pitch + 12
    _legend(answer, page)


def _legend(answer: Lines, page: "Page") -> None:
    """The colour of each head, and the opacity of a few weights."""
    from viz.paper import MARGIN, SMALL

    x = page.wide - MARGIN - 192
    for value in (0.05, 0.25, 1.0):
        line = np.array([[x, page.y, x + 12, page.y]])
        opacity = (int(_levels(np.array(value), 1.0)) + 1) / LEVELS
        page.strokes(line, INK.text, THICK, opacity)
        page.text(x + 15, page.y + 2.3, f"weight {value * answer.top:.2g}", SMALL, INK.muted)
        x += 66
    for i, (head, (name, _)) in enumerate(zip(answer.heads, answer.maps, strict=True)):
        x, y = MARGIN + 46 * (i % 5), page.y + 10 * (i // 5)
        page.strokes(np.array([[x, y, x + 12, y]]), _colour(head), 1.6)
        page.text(x + 15, y + 2.3, name, SMALL)
    page.y += 14 + 10 * ((len(answer.maps) - 1) // 5)


def _levels(weights: np.ndarray, top: float) -> np.ndarray:
    """The opacity of each line, from 0; −1 for weights that are not drawn."""
    share = np.sqrt(np.clip(weights / top, 0, 1))
    level = np.minimum(LEVELS - 1, np.floor(share * LEVELS)).astype(int)
    return np.where(weights < LEAST * top, -1, level)


def _colour(head: One) -> str:
    return INK.heads[head % len(INK.heads)] if isinstance(head, int) else INK.primary
