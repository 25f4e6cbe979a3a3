"""HTML tables of numbers, legible in light and dark mode."""

from collections.abc import Sequence
from html import escape
from typing import Any

from viz import theme
from viz.course import prose

Rows = Sequence[Sequence[float]]
# the background of a weight in both modes, at most half opaque, from the scale of the figures
_WEIGHT = ", ".join(map(str, theme.sequential("light")[128].tolist()))
STRONGEST = 0.5
BLANK = "\u2007\u2008\u2007"  # as wide as a number


def matrix(
    values: Rows,
    *,
    title: str,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    digits: int = 4,
    weights: bool = False,
    least: float = 0.0,
) -> str:
    """A matrix as an HTML table with title and shape.

    Args:
        values: row by row.
        title: above it.
        rows: names of the rows.
        cols: names of the columns.
        digits: after the decimal point.
        weights: whether they are coloured.
        least: smaller weights have no number.
    """
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in cols)
    lines = [f"{'<td></td>' if rows else ''}{heads}"] if cols else []
    for at, each in enumerate(values):
        name = f'<th scope="row">{escape(rows[at])}</th>' if rows else ""
        lines.append(name + "".join(_cell(value, digits, weights, least) for value in each))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    size = f"{len(values)} × {len(values[0])}"
    return (
        f'<figure class="lesson-matrix" tabindex="0"><figcaption>{prose.html(title)}'
        f"<small>{f'weights under {least} have no number' if least else size}</small>"
        f"</figcaption><table>{body}</table></figure>"
    )


def _cell(value: float, digits: int, weights: bool, least: float) -> str:
    text = BLANK if least and value < least else number(value, f".{digits}f")
    strength = STRONGEST * min(max(value, 0.0), 1.0) * weights
    style = f' style="background: rgba({_WEIGHT}, {strength:.3f})"' if strength else ""
    return f"<td{style}>{escape(text)}</td>"


def row(*parts: str) -> str:
    """Tables side by side, wrapped where necessary."""
    return f'<div class="lesson-row">{"".join(parts)}</div>'


def facts(**named: object) -> str:
    """Names and values as a row of small boxes; an underscore of a name is a space."""
    boxes = "".join(
        f"<span><i>{name.replace('_', ' ')}</i> {prose.html(str(value))}</span>"
        for name, value in named.items()
    )
    return f'<p class="lesson-facts">{boxes}</p>'


def number(value: Any, format_: str = ".4f") -> str:
    """A number as text, with a typographic minus sign; a text as it is."""
    text = format(value, format_)
    if isinstance(value, str):
        return text
    return (text.lstrip("-") if float(text.replace(",", "")) == 0 else text).replace("-", "−")
