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


def matrix(
    values: Rows,
    *,
    title: str,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    weights: bool = False,
    digits: int = 4,
) -> str:
    """A matrix as an HTML table with title and shape; weights are coloured."""
    words = [[number(value, f".{digits}f") for value in row] for row in values]
    colours = values if weights else [[0.0] * len(row) for row in values]
    line = f"{len(values)} × {len(values[0])}"
    return shares(words, colours, title=title, rows=rows, cols=cols, line=line)


def shares(
    words: Sequence[Sequence[str]],
    values: Rows,
    *,
    title: str,
    rows: Sequence[str],
    cols: Sequence[str],
    line: str,
) -> str:
    """A table whose cells have a label and the colour of a share from 0 to 1, and a subtitle."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in cols)
    body = [f"<tr>{'<td></td>' if rows else ''}{head}</tr>"] if cols else []
    for at, (labels, row) in enumerate(zip(words, values, strict=True)):
        name = f'<th scope="row">{escape(rows[at])}</th>' if rows else ""
        cells = "".join(map(_cell, labels, row))
        body.append(f"<tr>{name}{cells}</tr>")
    return (
        f'<figure class="lesson-matrix" tabindex="0"><figcaption>{prose.html(title)}'
        f"<small>{escape(line)}</small></figcaption><table>{''.join(body)}</table></figure>"
    )


def _cell(text: str, share: float) -> str:
    strength = STRONGEST * min(max(share, 0.0), 1.0)
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
