"""HTML tables of numbers, legible in light and dark mode."""

from collections.abc import Sequence
from html import escape

from viz import theme
from viz.pages.lessons import markup

Row = Sequence[float]
# the background of a weight in both modes, at most half opaque, from the scale of the figures
_WEIGHT = ", ".join(map(str, theme.sequential("light")[128].tolist()))
STRONGEST = 0.5


def matrix(
    values: Sequence[Row],
    *,
    title: str,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    weights: bool = False,
    digits: int = 4,
) -> str:
    """A matrix as an HTML table with title and shape.

    Args:
        values: row by row.
        title: in `markup`.
        rows: names of the rows; empty for none.
        cols: names of the columns.
        weights: whether the numbers are weights, which are coloured.
        digits: after the decimal point.
    """
    cells = [[_cell(number(v, digits), v if weights else 0.0) for v in row] for row in values]
    return _table(title, f"{len(values)} × {len(values[0])}", cells, rows, cols)


def shares(
    words: Sequence[Sequence[str]],
    values: Sequence[Row],
    *,
    title: str,
    rows: Sequence[str],
    cols: Sequence[str],
    line: str,
) -> str:
    """A table whose cells have a label and the colour of a share from 0 to 1.

    Args:
        words: label of each cell; may be empty.
        values: from 0 to 1.
        title: in `markup`.
        rows: names of the rows.
        cols: names of the columns.
        line: subtitle.
    """
    cells = [
        [_cell(escape(word), value) for word, value in zip(*row, strict=True)]
        for row in zip(words, values, strict=True)
    ]
    return _table(title, line, cells, rows, cols)


def row(*parts: str) -> str:
    """Tables and symbols side by side, wrapped where necessary."""
    return f'<div class="lesson-row">{"".join(parts)}</div>'


def facts(*pairs: tuple[str, str]) -> str:
    """Names and values as a row of small boxes."""
    boxes = "".join(
        f"<span><i>{markup.html(name)}</i> {markup.html(value)}</span>" for name, value in pairs
    )
    return f'<p class="lesson-facts">{boxes}</p>'


def lines(*items: str) -> str:
    """A list of lines in `markup`."""
    inner = "".join(f"<li>{markup.html(line)}</li>" for line in items)
    return f'<ul class="lesson-lines">{inner}</ul>'


def number(value: float, digits: int = 4) -> str:
    """A number formatted for tables, with a typographic minus sign."""
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "−")


def dot(a: Row, b: Row, digits: int = 4) -> str:
    """A dot product written out as a sum of products."""
    pairs = (
        f"{number(x, digits)}·{_bracketed(number(y, digits))}" for x, y in zip(a, b, strict=True)
    )
    return " + ".join(map(_bracketed, pairs))


def _bracketed(term: str) -> str:
    """A number or a product, in brackets if it begins with a minus."""
    return f"({term})" if term.startswith("−") else term


def _table(
    title: str, line: str, cells: list[list[str]], rows: Sequence[str], cols: Sequence[str]
) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in cols)
    body = [f"<tr>{'<td></td>' if rows else ''}{head}</tr>"] if cols else []
    for at, each in enumerate(cells):
        name = f'<th scope="row">{escape(rows[at])}</th>' if rows else ""
        body.append(f"<tr>{name}{''.join(each)}</tr>")
    return (
        f'<figure class="lesson-matrix" tabindex="0"><figcaption>{markup.html(title)}'
        f"<small>{escape(line)}</small></figcaption><table>{''.join(body)}</table></figure>"
    )


def _cell(text: str, share: float) -> str:
    """A cell with the colour of a share."""
    strength = STRONGEST * min(max(share, 0.0), 1.0)
    style = f' style="background: rgba({_WEIGHT}, {strength:.3f})"' if strength else ""
    return f"<td{style}>{text}</td>"
