"""All layers and heads as thumbnails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from viz.colours import INK, Scale, weight_scale
from viz.selection import Form
from viz.views.answer import Answer, weight_tables
from viz.views.request import Request, site_name

if TYPE_CHECKING:
    from models.trace import Site
    from viz.paper import Page

VIEW = Form(
    "atlas",
    "Every head",
    "All layers and heads as thumbnails",
    place=10,
    of_weights=True,
    options=("scale",),
    covers="every",
    chooses=(),
)
THUMB = 60  # cells along a side of a thumbnail
GAP = 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Atlas(Answer):
    """Thumbnails of every head.

    Attributes:
        rows: name of each layer, how many thumbnails it has, and what computes them, "column row
            col": the heads, mean, max.
        scale: of their colours; None for each thumbnail's own largest weight.
    """

    rows: Sequence[tuple[str, int, Callable[[], np.ndarray]]]
    scale: Scale | None


def answer(request: Request) -> Atlas:
    """The thumbnails, pooled."""
    from analysis.overview import survey

    def pooled(site: "Site") -> np.ndarray:
        return survey(request.view, site, size=THUMB).numpy(force=True)

    sites = request.sites
    return Atlas(
        description="One thumbnail for each head: rows are queries, columns are keys; large ones"
        " are pooled.",
        tables=weight_tables(request),
        rows=[(site_name(each, sites), each.heads + 2, partial(pooled, each)) for each in sites],
        scale=None if request.selection.scale == "own" else weight_scale(1.0),
    )


def figure(answer: Atlas, page: "Page") -> None:
    """Layers from top to bottom, heads from left to right, then their mean and maximum."""
    from viz.paper import BODY, MARGIN, SMALL, WIDE
    from viz.parts import longest

    names = max(longest([name for name, *_ in answer.rows], BODY, 120.0), 20) + 6
    count = max(columns for _, columns, _ in answer.rows)
    side = min(60.0, (WIDE - names - 2 * GAP) / count - GAP)
    left = (
        MARGIN + names + np.arange(count) * (side + GAP) + 2 * GAP * (np.arange(count) >= count - 2)
    )
    page.y += BODY + 4
    for x, name in zip(left, [*map(str, range(count - 2)), "mean", "max"], strict=True):
        page.text(x + side / 2, page.y - 3, name, min(SMALL, side / 2.6), INK.muted, "center")
    for name, columns, pooled in answer.rows:
        page.text(MARGIN, page.y + side / 2 + BODY * 0.35, name, BODY)
        for i, weights in enumerate(pooled()):
            x = left[i if i < columns - 2 else count - columns + i]
            scale = answer.scale or weight_scale(float(weights.max()) or 1.0)
            page.image(x, page.y, side, side, scale.colours(weights))
            page.box(x, page.y, side, side, linewidth=0.3)
        page.y += side + GAP
    page.y += 6
    words = "share of each thumbnail’s largest weight (square root)"
    page.bar(answer.scale or Scale("root", 0.0, 1.0, words))
