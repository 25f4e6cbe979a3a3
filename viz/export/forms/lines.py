"""The weights of heads as lines between two columns of tokens."""

import numpy as np

from viz.drawing.scene import Scene
from viz.export.paper import Paper
from viz.export.request import (
    Request,
    caption,
    drawn_of,
    labels_of,
    name_of,
    rows_and_columns,
    top_of,
)
from viz.export.sinks import hidden_of, hidden_sentence


def _lines(request: Request) -> Scene:
    from viz.drawing.lines import lines
    from viz.drawing.parts import noun_of

    maps = [
        (name_of(head), np.nan_to_num(drawn_of(request, head, "lines"))) for head in request.heads
    ]
    token, inward = request.selection.token, request.selection.inward
    start = rows_and_columns(request)[int(inward)].start
    if token is not None:
        if not 0 <= token - start < maps[0][1].shape[int(inward)]:
            raise ValueError("token: expected one of the rows or columns that are shown")
        maps = [(name, _alone(weights, token - start, inward)) for name, weights in maps]
    numbers = [head if isinstance(head, int) else None for head in request.heads]
    query, key = labels_of(request)
    description = (
        f"Each line is one weight, from a {noun_of(query)} on the left to a {noun_of(key)} it"
        " attends to; opacity is the square root of the weight, and weights below a hundredth of a"
        " full line are left out."
    )
    if token is not None:
        label = (key if inward else query)[token - start]
        description += f" Only the lines of “{label}” ({token}) are drawn."
    if top := request.selection.top:
        description += f" Of each row the {top} strongest keys are drawn."
    hidden = hidden_of(request, rows_and_columns(request)[0])
    description += f" {hidden_sentence(request, hidden)}" if hidden else ""
    drawn = [(name, weights, head) for (name, weights), head in zip(maps, numbers, strict=True)]
    return lines(drawn, query, key, caption(request, description), top=top_of(request, maps))


def _alone(weights: np.ndarray, token: int, inward: bool) -> np.ndarray:
    """The weights of one query, or of one key; zero elsewhere."""
    kept = np.zeros_like(weights)
    place = (slice(None), token) if inward else (token, slice(None))
    kept[place] = weights[place]
    return kept


PAPER = Paper(draws=_lines)
