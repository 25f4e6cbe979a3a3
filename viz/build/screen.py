"""Cards as the browser draws them: numbers pooled to the screen, and the lines that run."""

import inspect
import textwrap
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from viz.build.card import Card, Item
from viz.build.picture import Picture
from viz.build.titles import scheme_of

MATRIX = (48, 96)  # cells of a matrix, down and across
BOX = (24, 48)  # of what a box gives
THUMB = (24, 24)  # of a head
SIDE = 112  # pixels of a picture, at most


def on_screen(card: Card, picture: Picture) -> dict[str, Any]:
    """A card as plain data and arrays."""
    names = ("address", "title", "description", "parameters", "flops", "closed")
    plain = {name: getattr(card, name) for name in names}
    plain |= {"shape": list(card.shape), "joins": list(card.joins)}
    scheme = _scheme(card, picture)
    return plain | {
        "waves": scheme in ("sinusoidal", "sincos2d", "rotary"),
        "rotary": scheme == "rotary",
        "rows": list(card.rows),
        "keys": list(card.keys),
        "picture": None if card.pixels is None else _picture(card.pixels, card.cuts),
        "runs": picture.trace is not None,
        "untrained": picture.trace is None or not picture.trace.trained,
        "items": [_item(each) for each in card.items],
        "matrices": [
            {
                "name": each.name,
                "title": each.title,
                "rows": each.rows,
                "cols": each.cols,
                "shares": each.shares,
                **pooled(each.values, MATRIX, places=True),
            }
            for each in card.matrices
        ],
    }


def _picture(pixels: Tensor, cuts: tuple[int, int]) -> dict[str, Any]:
    """Pixels as red, green and blue bytes: from the darkest number to the brightest."""
    low, high = pixels.min(), pixels.max()
    shades = (pixels - low) / (high - low).clamp(min=1e-9)
    colours = shades[:3] if len(shades) >= 3 else shades[:1].expand(3, -1, -1)
    small = (
        F.interpolate(colours[None], size=SIDE, mode="area")[0]
        if max(colours.shape) > SIDE
        else colours
    )
    visible = (255 * small).byte().permute(1, 2, 0).contiguous().cpu().numpy()
    return {"shape": list(visible.shape[:2]), "cuts": list(cuts), "at": visible.reshape(-1)}


def _scheme(card: Card, picture: Picture) -> str:
    """The kind of a card's positions; "" for any other card."""
    return scheme_of(picture.calls[card.address].module) if card.address.startswith("p:") else ""


def _item(item: Item, room: tuple[int, int] = BOX) -> dict[str, Any]:
    names = ("kind", "title", "opens", "parameters", "flops", "tower")
    plain = {name: getattr(item, name) for name in names}
    values = None if item.values is None else pooled(item.values, room)
    inner = [_item(each, THUMB) for each in item.inner]
    of = [*item.of]
    return plain | {"shape": list(item.shape), "of": of, "values": values, "inner": inner}


def pooled(values: Tensor, room: tuple[int, int], *, places: bool = False) -> dict[str, Any]:
    """A matrix for the screen: of each square of cells, the number that is farthest from 0.

    A cell is shown as masked, −∞, only where its whole square is. With `places`, a matrix that is
    made smaller comes with the place that each of its numbers has in the whole one.
    """
    high, wide = values.shape
    rows, cols = min(high, room[0]), min(wide, room[1])
    finite = values.detach().float()
    masked = finite == -torch.inf
    finite, where = finite.masked_fill(masked, 0), None
    if (rows, cols) != (high, wide):
        (most, high_at), (least, low_at) = (
            F.adaptive_max_pool2d(each[None], (rows, cols), return_indices=True)
            for each in (finite, -finite)
        )
        most, least = most[0], -least[0]
        where = torch.where(most >= -least, high_at[0], low_at[0])
        hidden = F.adaptive_max_pool2d((~masked).float()[None], (rows, cols))[0] == 0
        finite, masked = torch.where(most >= -least, most, least), hidden
    visible = finite.masked_fill(masked, torch.nan).cpu().numpy().astype(np.float32)
    small = {"shape": [rows, cols], "of": [high, wide], "at": visible.reshape(-1)}
    if places and where is not None:
        small["places"] = where.cpu().numpy().astype(np.int32).reshape(-1)
    return small


def lines_of(source: type | None) -> dict[str, Any]:
    """File, first line and code of what runs in a module of a class."""
    if source is None:
        return {"file": "", "line": 0, "code": ""}
    forward: Any = inspect.unwrap(source.forward)  # pyright: ignore[reportAttributeAccessIssue]
    lines, first = inspect.getsourcelines(forward)
    name = source.__module__.replace(".", "/") + ".py"
    return {"file": name, "line": first, "code": textwrap.dedent("".join(lines))}
