"""Tables with every number in sight, as HTML that is legible in light and in dark."""

from collections.abc import Sequence
from html import escape
from math import isnan

from viz.pages.lessons import markup

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
        title: what it is, in the marks of `markup`.
        rows: a name for each row; none for numbers.
        cols: a name for each column.
        axes: what a row and what a column is ("word", "feature"), for the shape below the title.
        kind: "weights" colours 0 to 1, "signed" negative and positive by size, "plain" nothing.
        digits: after the point.
        mark: the row and column of cells to point at; None in a place means all of that axis.
        note: a line below the table, in the marks of `markup`.
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
    below = f'<p class="lesson-note">{markup.html(note)}</p>' if note else ""
    return (
        f'<figure class="lesson-matrix"><figcaption>{markup.html(title)}'
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
        title: what they are, in the marks of `markup`.
        items: a name and a number each.
        full: the number whose bar is as wide as there is room; that of the longest if it is more.
        digits: after the point.
        note: a line below, in the marks of `markup`.
    """
    longest = max([full, *(abs(value) for _, value in items)]) or 1.0
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td class="lesson-bar-cell"><i style="width:'
        f" {100 * abs(value) / longest:.2f}%; background: rgba({_COLD if value >= 0 else _WARM},"
        f' .75)"></i></td><td>{number(value, digits)}</td></tr>'
        for name, value in items
    )
    below = f'<p class="lesson-note">{markup.html(note)}</p>' if note else ""
    return (
        f'<figure class="lesson-matrix lesson-bars"><figcaption>{markup.html(title)}</figcaption>'
        f"<table>{lines}</table>{below}</figure>"
    )


def table(
    title: str, cols: Sequence[str], rows: Sequence[Sequence[str]], *, marked: int | None = None
) -> str:
    """A table of words and numbers; its first column names the rows.

    Args:
        title: what it is, in the marks of `markup`, as all of the texts are.
        cols: a name for each column.
        rows: the cells.
        marked: the row to point at.
    """
    head = "".join(f'<th scope="col">{markup.html(name)}</th>' for name in cols)
    lines = [f"<tr>{head}</tr>"]
    for number, (first, *rest) in enumerate(rows):
        kind = ' class="marked"' if number == marked else ""
        body = "".join(f"<td{kind}>{markup.html(cell)}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{markup.html(first)}</th>{body}</tr>')
    return (
        f'<figure class="lesson-matrix lesson-table"><figcaption>{markup.html(title)}</figcaption>'
        f"<table>{''.join(lines)}</table></figure>"
    )


def shares(
    words: Sequence[Sequence[str]],
    values: Sequence[Sequence[float]],
    *,
    title: str,
    rows: Sequence[str],
    cols: Sequence[str],
    mark: tuple[int, int] | None = None,
    digits: int = 2,
    line: str = "",
) -> str:
    """A table whose cells hold a word and a share of 1, which is also their colour.

    Args:
        words: of each cell; an empty one leaves the number alone.
        values: from 0 to 1.
        title: what it is, in the marks of `markup`.
        rows: a name for each row.
        cols: a name for each column.
        mark: the cell to point at.
        digits: after the point; 0 shows no number.
        line: below the title.
    """
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in cols)
    lines = [f"<tr><td></td>{head}</tr>"]
    for number, name in enumerate(rows):
        body = "".join(
            _share(word, value, digits, mark == (number, col))
            for col, (word, value) in enumerate(zip(words[number], values[number], strict=True))
        )
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{body}</tr>')
    return (
        f'<figure class="lesson-matrix"><figcaption>{markup.html(title)}'
        f"<small>{escape(line)}</small></figcaption><table>{''.join(lines)}</table></figure>"
    )


def row(*parts: str) -> str:
    """Tables and signs beside each other, in further lines where there is no room."""
    return f'<div class="lesson-row">{"".join(parts)}</div>'


def pending(title: str) -> str:
    """The place of a table that a later step fills."""
    return (
        f'<figure class="lesson-matrix lesson-pending"><figcaption>{markup.html(title)}'
        "<small>in a later step</small></figcaption></figure>"
    )


def facts(*pairs: tuple[str, str]) -> str:
    """Names and values in a line of small boxes: shapes as they are now, settings, results."""
    boxes = "".join(
        f"<span><i>{markup.html(name)}</i> {markup.html(value)}</span>" for name, value in pairs
    )
    return f'<p class="lesson-facts">{boxes}</p>'


def lines(*sums: str) -> str:
    """Sums written out, each in a line of its own."""
    inner = "".join(f"<li>{markup.html(line)}</li>" for line in sums)
    return f'<ul class="lesson-lines">{inner}</ul>'


def number(value: float, digits: int = 4) -> str:
    """A number as tables show it, with a real minus sign."""
    if isnan(value):
        return "masked"
    if LARGE <= abs(value) < float("inf"):
        return f"{value:.0e}".replace("e+0", "e").replace("-", "−")
    if abs(value) == float("inf"):
        return "−∞" if value < 0 else "∞"
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "−")


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


def bracketed(term: str) -> str:
    """A number or a product, in brackets if it begins with a minus."""
    return f"({term})" if term.startswith("−") else term


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


def _share(word: str, value: float, digits: int, marked: bool) -> str:
    number = f"{value:.{digits}f}" if digits else ""
    text = "<br>".join(part for part in (escape(word), number) if part)
    kind = ' class="marked"' if marked else ""
    style = f"background: rgba({_COLD}, {STRONGEST * min(max(value, 0.0), 1.0):.3f})"
    return f'<td{kind} style="{style}">{text}</td>'
