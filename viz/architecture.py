"""Props of the network diagram, and a treemap of a network's parts."""

from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from viz import theme
from viz.figures import finish

KEYS = ("name", "title", "kind", "takes", "gives", "parameters", "flops")
MORE = ("times", "skips", "context", "causal", "heading", "sentence", "rows", "source", "parts")
QUANTITIES = {
    "parameters": ("Parameters", "learned parameters"),
    "flops": ("FLOPs", "FLOPs of one forward pass"),
}


def base(
    parts: Sequence[dict[str, Any]],
    sources: Sequence[dict[str, Any]],
    *,
    title: str = "",
    quantity: str = "parameters",
) -> dict[str, Any]:
    """The props of the diagram: the parts of a network, with details on each.

    Args:
        parts: each with `KEYS` and `MORE`; axes are [name, size], numbers are for one copy, rows
            are [name, text], and `source` is an index into the sources.
        sources: file, line and code of the functions that run.
        title: of the network.
        quantity: one of `QUANTITIES`, shown on every part.

    Raises:
        ValueError: for a part with a missing field, or an unknown quantity.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity: expected one of {', '.join(QUANTITIES)}, received {quantity}")
    return {
        "title": title,
        "parts": [_checked(part, len(sources)) for part in parts],
        "sources": list(sources),
        "quantity": quantity,
        "theme": {mode: _colours(mode) for mode in theme.MODES},
    }


HEIGHT = 560  # in pixels


def treemap(
    paths: Sequence[str],
    titles: Sequence[str],
    values: Sequence[int],
    *,
    title: str,
    quantity: str = "parameters",
) -> go.Figure:
    """A treemap of a quantity over all parts.

    Args:
        paths: of every part, names joined by "/"; a prefix is the enclosing part.
        titles: of every part.
        values: of every part, for all copies together; zeros are omitted.
        title: of the figure.
        quantity: one of `QUANTITIES`, what the values are.
    """
    if not len(paths) == len(titles) == len(values):
        raise ValueError(
            f"expected as many paths as titles and values, received {len(paths)},"
            f" {len(titles)} and {len(values)}"
        )
    kept = [row for row in zip(paths, titles, values, strict=True) if row[2] > 0]
    name, unit = QUANTITIES[quantity]
    figure = go.Figure(
        go.Treemap(
            ids=[path for path, _, _ in kept],
            labels=[escape(each, quote=False) for _, each, _ in kept],
            parents=[path.rpartition("/")[0] for path, _, _ in kept],
            values=[value for _, _, value in kept],
            text=[short(value, quantity) for _, _, value in kept],
            branchvalues="total",
            texttemplate="%{label}<br>%{text} · %{percentRoot:.1%}",
            hovertemplate=f"%{{id}}<br>%{{value:,}} {unit}<br>%{{percentRoot:.2%}}<extra></extra>",
            tiling={"pad": 3},
            maxdepth=4,
        )
    )
    return finish(figure, f"{name}: {title}", HEIGHT)


def short(value: float, quantity: str = "parameters") -> str:
    """Three digits and a unit: 1,234,567 → "1.23 M"; memory in binary steps."""
    base, units = (1000, ("", " k", " M", " G", " T"))
    if quantity == "memory":
        base, units = (1024, (" B", " KiB", " MiB", " GiB", " TiB"))
    step = 0
    while value >= 999.5 and step < len(units) - 1:
        value, step = value / base, step + 1
    digits = 0 if step == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}{units[step]}"


def _checked(part: dict[str, Any], sources: int) -> dict[str, Any]:
    missing = [key for key in (*KEYS, *MORE) if key not in part]
    if missing:
        raise ValueError(f"expected a part with {', '.join((*KEYS, *MORE))}; missing {missing}")
    if part["source"] not in range(sources):
        raise ValueError(f"expected a source from 0 to {sources - 1}, received {part['source']}")
    return {**part, "parts": [_checked(inner, sources) for inner in part["parts"]]}


def _colours(mode: theme.Mode) -> dict[str, Any]:
    colours = theme.COLOURS[mode]
    names = ("background", "surface", "text", "muted", "line", "primary")
    return {name: getattr(colours, name) for name in names} | {"heads": list(colours.heads)}
