"""Results as people read them: their `repr` in one line, and HTML for notebooks, of one picture and
no scripts, in which every text is escaped."""

import base64
from dataclasses import fields
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

if TYPE_CHECKING:
    from models.trace import Trace


LONGEST = 90  # characters of a value in a `repr`
SIDE, GAP = 26, 2  # pixels of a thumbnail, and between two
MOST_CELLS = 2**24  # weights that thumbnails are made of, at most
MOST_ROWS, MOST_COLUMNS, MOST_TOKENS = 32, 32, 60
LIGHT, DARK = np.array([247.0, 250, 255]), np.array([8.0, 48, 107])


def shown_trace(trace: "Trace") -> str:
    """A trace: its line, its tokens, and every head as a thumbnail, a layer a row."""
    labels = trace.labels
    text = " · ".join(labels[:MOST_TOKENS]) + (" …" if len(labels) > MOST_TOKENS else "")
    cells = sum(site.heads * site.queries * site.keys for site in trace.sites)
    parts = [f"<b>{escape(repr(trace))}</b>", escape(text), *map(escape, trace.notes)]
    if cells <= MOST_CELLS:
        parts.append(_picture(trace))
    return "".join(f"<div>{part}</div>" for part in parts)


def _picture(trace: "Trace") -> str:
    sites = trace.sites[:MOST_ROWS]
    wide = min(MOST_COLUMNS, max(site.heads for site in sites))
    step = SIDE + GAP
    levels = np.full((len(sites) * step, wide * step, 3), 255, np.uint8)
    for row, site in enumerate(sites):
        weights = trace.weights(site)[:wide].cpu()
        pooled = torch.nn.functional.adaptive_max_pool2d(weights, SIDE)
        shares = pooled.clamp(0, 1).sqrt().numpy()[..., None]
        for column, share in enumerate(LIGHT + (DARK - LIGHT) * shares):
            y, x = row * step, column * step
            levels[y : y + SIDE, x : x + SIDE] = share.astype(np.uint8)
    file = BytesIO()
    Image.fromarray(levels).save(file, "PNG")
    data = base64.b64encode(file.getvalue()).decode("ascii")
    about = "Attention weights: a layer a row, a head a column; dark is 1, on a square-root scale"
    whole = len(sites) == len(trace.sites) and wide == max(site.heads for site in trace.sites)
    left_out = "" if whole else " (the first of them)"
    return f'<img alt="{about}" src="data:image/png;base64,{data}"/><div>{about}{left_out}.</div>'


def shown_lines(*lines: Any) -> str:
    """Lines of text, the first in bold."""
    first, *rest = (escape(str(line)) for line in lines)
    return "".join(f"<div>{line}</div>" for line in (f"<b>{first}</b>", *rest))


def one_line(result: Any) -> str:
    """A dataclass's name and those of its fields that are set, as its `__repr__`."""
    values = ((field.name, getattr(result, field.name)) for field in fields(result))
    parts = (
        f"{name}={_short(value)}"
        for name, value in values
        if value is not None and not (isinstance(value, tuple) and not value)
    )
    return f"{type(result).__name__}({', '.join(parts)})"


def _short(value: Any) -> str:
    if isinstance(value, Tensor):
        return " × ".join(map(str, value.shape)) or f"{float(value):.4g}"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = repr(value)
    if len(text) <= LONGEST and "\n" not in text:
        return text
    if isinstance(value, tuple):
        return f"({len(value)} of {type(value[0]).__name__})"
    return f"{type(value).__name__}(…)"
