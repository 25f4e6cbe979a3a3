"""Small matrices with every number in sight, as HTML that is legible in light and in dark."""

from collections.abc import Sequence
from html import escape
from math import isnan

from viz.pages.lessons import prose

Row = Sequence[float]
KINDS = ("plain", "weights", "signed")
# behind text of either mode, at most half opaque; negative is cold as in the pictures
_COLD, _WARM = "92, 118, 235", "222, 110, 70"
STRONGEST = 0.5
HIDDEN = -1e9  # what some masks write in place of −∞
LARGE = 1e7  # from here on a number is written as a power of ten


def matrix(
    values: Sequence[Row],
    *,
    title: str,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    axes: tuple[str, str] = ("", ""),
    kind: str = "plain",
    digits: int = 4,
    mark: tuple[int | None, int | None] | None = None,
    note: str = "",
) -> str:
    """A table as HTML: its title, its shape, and all of its numbers.

    Args:
        values: row by row; NaN is a cell that is masked.
        title: what it is, in the marks of `prose`.
        rows: a name for each row; none for numbers.
        cols: a name for each column.
        axes: what a row and what a column is ("word", "feature"), for the shape below the title.
        kind: "weights" colours 0 to 1, "signed" negative and positive by size, "plain" nothing.
        digits: after the point.
        mark: the row and column of cells to point at; None in a place means all of that axis.
        note: a line below the table, in the marks of `prose`.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}, received {kind!r}")
    largest = max((abs(v) for row in values for v in row if not isnan(v)), default=0.0)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in cols)
    lines = [f"<tr>{'<td></td>' if rows else ''}{head}</tr>"] if cols else []
    for number, row in enumerate(values):
        name = f'<th scope="row">{escape(rows[number])}</th>' if rows else ""
        cells = "".join(
            _cell(value, _colour(value, kind, largest), digits, _marked(mark, number, col))
            for col, value in enumerate(row)
        )
        lines.append(f"<tr>{name}{cells}</tr>")
    below = f'<p class="lesson-note">{prose.html(note)}</p>' if note else ""
    return (
        f'<figure class="lesson-matrix"><figcaption>{prose.html(title)}'
        f"<small>{escape(shape(values, axes))}</small></figcaption>"
        f"<table>{''.join(lines)}</table>{below}</figure>"
    )


def shape(values: Sequence[Row], axes: tuple[str, str] = ("", "")) -> str:
    """The sizes of a matrix, with what they count: "2 words × 3 features"."""
    sizes = (len(values), len(values[0]) if values else 0)
    return " × ".join(counted(n, axis) for n, axis in zip(sizes, axes, strict=True))


def counted(number: int, thing: str) -> str:
    """ "1 word", "2 words", "2 queries"; the bare number for no thing."""
    if number == 1 or not thing:
        return f"{number} {thing}".strip()
    return f"{number} queries" if thing == "query" else f"{number} {thing}s"


def bars(
    title: str,
    items: Sequence[tuple[str, float]],
    *,
    full: float = 0.0,
    digits: int = 4,
    note: str = "",
) -> str:
    """Numbers as bars; negative ones in another colour.

    Args:
        title: what they are, in the marks of `prose`.
        items: a name and a number each.
        full: the number whose bar is as wide as there is room; that of the longest if it is more.
        digits: after the point.
        note: a line below, in the marks of `prose`.
    """
    longest = max([full, *(abs(value) for _, value in items)]) or 1.0
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td class="lesson-bar-cell"><i style="width:'
        f" {100 * abs(value) / longest:.2f}%; background: rgba({_COLD if value >= 0 else _WARM},"
        f' .75)"></i></td><td>{number(value, digits)}</td></tr>'
        for name, value in items
    )
    below = f'<p class="lesson-note">{prose.html(note)}</p>' if note else ""
    return (
        f'<figure class="lesson-matrix lesson-bars"><figcaption>{prose.html(title)}</figcaption>'
        f"<table>{lines}</table>{below}</figure>"
    )


def table(
    title: str, cols: Sequence[str], rows: Sequence[Sequence[str]], *, marked: int | None = None
) -> str:
    """Words and numbers in rows; text of a reader's own stays as it is written."""
    head = "".join(f'<th scope="col">{prose.html(name)}</th>' for name in cols)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=marked' if place == marked else ''}>{escape(cell)}</td>" for cell in line
        )
        + "</tr>"
        for place, line in enumerate(rows)
    )
    return (
        f'<figure class="lesson-matrix"><figcaption>{prose.html(title)}</figcaption>'
        f"<table><tr>{head}</tr>{body}</table></figure>"
    )


def row(*parts: str) -> str:
    """Tables and signs beside each other, in further lines where there is no room."""
    return f'<div class="lesson-row">{"".join(parts)}</div>'


def pending(title: str, told: str = "in a later step") -> str:
    """The place of a table that a later step fills."""
    return (
        f'<figure class="lesson-matrix lesson-pending"><figcaption>{prose.html(title)}'
        f"<small>{escape(told)}</small></figcaption></figure>"
    )


def facts(*pairs: tuple[str, str]) -> str:
    """Names and values in a line of small boxes: shapes as they are now, settings, results."""
    boxes = "".join(
        f"<span><i>{prose.html(name)}</i> {prose.html(value)}</span>" for name, value in pairs
    )
    return f'<p class="lesson-facts">{boxes}</p>'


def lines(*said: str) -> str:
    """Sums written out, each in a line of its own."""
    inner = "".join(f"<li>{prose.html(line)}</li>" for line in said)
    return f'<ul class="lesson-lines">{inner}</ul>'


def number(value: float, digits: int = 4) -> str:
    """A number as tables show it, with a real minus sign."""
    if isnan(value):
        return "masked"
    if LARGE <= abs(value) < float("inf"):
        return f"{value:.0e}".replace("e+0", "e").replace("-", "−")
    said = f"{value:.{digits}f}" if abs(value) != float("inf") else "∞"
    if value == float("-inf"):
        return "−∞"
    said = said.lstrip("-") if float(said.replace("∞", "1")) == 0 else said
    return said.replace("-", "−")


def total(values: Sequence[float], digits: int = 4) -> str:
    """A sum written out; what is negative stands in brackets."""
    return " + ".join(bracketed(number(value, digits)) for value in values)


def dot(a: Sequence[float], b: Sequence[float], digits: int = 4) -> str:
    """The products that a dot product is the sum of, written out."""
    pairs = (
        f"{number(x, digits)}·{bracketed(number(y, digits))}" for x, y in zip(a, b, strict=True)
    )
    return " + ".join(map(bracketed, pairs))


def exp(score: float, shift: float = 0.0) -> str:
    """ "exp(0.5)"; with what is subtracted first, if anything is: "exp(800 − 799)"."""
    return f"exp({number(score)}{f' − {bracketed(number(shift))}' if shift else ''})"


def bracketed(said: str) -> str:
    """A number or a product, in brackets if it begins with a minus."""
    return f"({said})" if said.startswith("−") else said


def _cell(value: float, colour: str, digits: int, marked: bool) -> str:
    style = f' style="background: {colour}"' if colour else ""
    hidden = isnan(value) or value <= HIDDEN
    kinds = [name for name, is_so in (("marked", marked), ("masked", hidden)) if is_so]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<td{style}{kind}>{number(value, digits)}</td>"


def _colour(value: float, kind: str, largest: float) -> str:
    if kind == "plain" or isnan(value) or abs(value) == float("inf"):
        return ""
    share = value if kind == "weights" else value / largest if largest else 0.0
    strength = STRONGEST * min(abs(share), 1.0)
    return f"rgba({_WARM if kind == 'signed' and value > 0 else _COLD}, {strength:.3f})"


def _marked(mark: tuple[int | None, int | None] | None, row: int, col: int) -> bool:
    if mark is None:
        return False
    return mark[0] in (None, row) and mark[1] in (None, col)
