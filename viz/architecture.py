"""Props of the network diagram, and how its numbers are written."""

from collections.abc import Sequence
from typing import Any

from viz import theme

QUANTITIES = {"parameters": "Parameters", "flops": "FLOPs"}
COLOURS = ("background", "surface", "text", "muted", "line", "primary")


def base(
    parts: Sequence[dict[str, Any]], sources: Sequence[dict[str, Any]], *, title: str = ""
) -> dict[str, Any]:
    """The props of the diagram: the parts of a network, with details on each.

    Args:
        parts: as `ArchitecturePart` in types.d.ts; axes are [name, size], numbers are for one copy,
            rows are [name, text], and `source` is an index into the sources.
        sources: file, line and code of the functions that run.
        title: of the network.
    """
    colours = {
        mode: {name: getattr(theme.COLOURS[mode], name) for name in COLOURS} for mode in theme.MODES
    }
    return {"title": title, "parts": list(parts), "sources": list(sources), "theme": colours}


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
