"""HTML tables of numbers, legible in light and dark mode."""

from collections.abc import Sequence
from html import escape
from math import isnan

from viz import theme
from viz.pages.lessons import markup

Row = Sequence[float]
KINDS = ("plain", "weights", "signed")
# backgrounds of text in both modes, at most half opaque: negative is cold, as in the figures, and
# weights have the colour that they have throughout the course
_COLD, _WARM = "92, 118, 235", "222, 110, 70"
_WEIGHT = ", ".join(map(str, theme.rgb(theme.TERMS["light"]["weight"])))
STRONGEST = 0.5
HIDDEN = -1e9  # fill value of some masks in place of −∞
SMALL = 0.1  # smaller numbers are in scientific notation where a table is to look as printed
LARGE = 1e7  # larger numbers are in scientific notation


def matrix(
    values: Sequence[Row],
    *,
    title: str,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    axes: tuple[str, str] = ("", ""),
    kind: str = "plain",
    digits: int = 4,
    printed: bool = False,
    mark: tuple[int | None, int | None] | None = None,
    note: str = "",
) -> str:
    """A matrix as an HTML table with title and shape.

    Args:
        values: row by row; NaN is a masked cell.
        title: in `markup`.
        rows: names of the rows; empty for none.
        cols: names of the columns.
        axes: nouns for rows and columns ("word", "feature"), for the shape below the title.
        kind: colouring: "weights" for 0 to 1, "signed" for positive and negative, "plain" for none.
        digits: after the decimal point.
        printed: small numbers as PyTorch prints them, such as 1.7783e-04.
        mark: row and column of the cells to mark; None means all along that axis.
        note: a line below the table, in `markup`.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}, received {kind!r}")
    largest = max((abs(v) for row in values for v in row if not isnan(v)), default=0.0)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in cols)
    lines = [f"<tr>{'<td></td>' if rows else ''}{head}</tr>"] if cols else []
    for at, row in enumerate(values):
        name = f'<th scope="row">{escape(rows[at])}</th>' if rows else ""
        cells = "".join(
            _cell(
                _printed(value, digits) if printed else number(value, digits),
                value,
                _colour(value, kind, largest),
                _marked(mark, at, col),
            )
            for col, value in enumerate(row)
        )
        lines.append(f"<tr>{name}{cells}</tr>")
    below = f'<p class="lesson-note">{markup.html(note)}</p>' if note else ""
    return (
        f'<figure class="lesson-matrix" tabindex="0"><figcaption>{markup.html(title)}'
        f"<small>{escape(shape(values, axes))}</small></figcaption>"
        f"<table>{''.join(lines)}</table>{below}</figure>"
    )


def shape(values: Sequence[Row], axes: tuple[str, str] = ("", "")) -> str:
    """The shape of a matrix with nouns: "2 words × 3 features"."""
    sizes = (len(values), len(values[0]) if values else 0)
    return " × ".join(counted(n, axis) for n, axis in zip(sizes, axes, strict=True))


def counted(number: int, thing: str) -> str:
    """ "1 word", "2 words", "2 queries"; only the number without a noun."""
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
    """Horizontal bars; negative numbers have another colour.

    Args:
        title: in `markup`.
        items: names and numbers.
        full: the number with a full-width bar, unless a larger one occurs.
        digits: after the decimal point.
        note: a line below, in `markup`.
    """
    longest = max([full, *(abs(value) for _, value in items)]) or 1.0
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td class="lesson-bar-cell"><i style="width:'
        f" {100 * abs(value) / longest:.2f}%; background: rgba({_WEIGHT if value >= 0 else _COLD},"
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
    """A table of texts; its first column names the rows.

    Args:
        title: in `markup`, like all texts.
        cols: names of the columns.
        rows: the cells.
        marked: the row to mark.
    """
    head = "".join(f'<th scope="col">{markup.html(name)}</th>' for name in cols)
    lines = [f"<tr>{head}</tr>"]
    for number, (first, *rest) in enumerate(rows):
        kind = ' class="marked"' if number == marked else ""
        body = "".join(f"<td{kind}>{markup.html(cell)}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{markup.html(first)}</th>{body}</tr>')
    return (
        f'<figure class="lesson-matrix lesson-table" tabindex="0">'
        f"<figcaption>{markup.html(title)}</figcaption><table>{''.join(lines)}</table></figure>"
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
    """A table whose cells have a label and a share from 0 to 1, also shown as colour.

    Args:
        words: label of each cell; may be empty.
        values: from 0 to 1.
        title: in `markup`.
        rows: names of the rows.
        cols: names of the columns.
        mark: the cell to mark.
        digits: after the decimal point; 0 hides the number.
        line: subtitle.
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
        f'<figure class="lesson-matrix" tabindex="0"><figcaption>{markup.html(title)}'
        f"<small>{escape(line)}</small></figcaption><table>{''.join(lines)}</table></figure>"
    )


def row(*parts: str) -> str:
    """Tables and symbols side by side, wrapped where necessary."""
    return f'<div class="lesson-row">{"".join(parts)}</div>'


def pending(title: str) -> str:
    """A placeholder for a table of a later step."""
    return (
        f'<figure class="lesson-matrix lesson-pending"><figcaption>{markup.html(title)}'
        "<small>in a later step</small></figcaption></figure>"
    )


def facts(*pairs: tuple[str, str]) -> str:
    """Names and values as a row of small boxes."""
    boxes = "".join(
        f"<span><i>{markup.html(name)}</i> {markup.html(value)}</span>" for name, value in pairs
    )
    return f'<p class="lesson-facts">{boxes}</p>'


def lines(*sums: str) -> str:
    """A list of written-out calculations."""
    inner = "".join(f"<li>{markup.html(line)}</li>" for line in sums)
    return f'<ul class="lesson-lines">{inner}</ul>'


def number(value: float, digits: int = 4) -> str:
    """A number formatted for tables, with a typographic minus sign."""
    if isnan(value):
        return "masked"
    if LARGE <= abs(value) < float("inf"):
        return f"{value:.0e}".replace("e+0", "e").replace("-", "−")
    if abs(value) == float("inf"):
        return "−∞" if value < 0 else "∞"
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "−")


def total(values: Sequence[float], digits: int = 4) -> str:
    """A sum written out, with negative terms in brackets."""
    return " + ".join(bracketed(number(value, digits)) for value in values)


def dot(a: Sequence[float], b: Sequence[float], digits: int = 4) -> str:
    """A dot product written out as a sum of products."""
    pairs = (
        f"{number(x, digits)}·{bracketed(number(y, digits))}" for x, y in zip(a, b, strict=True)
    )
    return " + ".join(map(bracketed, pairs))


def exp(score: float, shift: float = 0.0) -> str:
    """ "exp(0.5)", or with a shift "exp(800 − 799)"."""
    return f"exp({number(score)}{f' − {bracketed(number(shift))}' if shift else ''})"


def bracketed(term: str) -> str:
    """A number or a product, in brackets if it begins with a minus."""
    return f"({term})" if term.startswith("−") else term


def _printed(value: float, digits: int) -> str:
    """Small numbers in the notation of a printed tensor: 1.7783e-04."""
    return f"{value:.4e}" if 0 < abs(value) < SMALL else number(value, digits)


def _cell(text: str, value: float, colour: str, marked: bool) -> str:
    style = f' style="background: {colour}"' if colour else ""
    hidden = isnan(value) or value <= HIDDEN
    kinds = [name for name, is_so in (("marked", marked), ("masked", hidden)) if is_so]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<td{style}{kind}>{text}</td>"


def _colour(value: float, kind: str, largest: float) -> str:
    if kind == "plain" or isnan(value) or abs(value) == float("inf"):
        return ""
    share = value if kind == "weights" else value / largest if largest else 0.0
    strength = STRONGEST * min(abs(share), 1.0)
    colour = _WEIGHT if kind == "weights" else _WARM if value > 0 else _COLD
    return f"rgba({colour}, {strength:.3f})"


def _marked(mark: tuple[int | None, int | None] | None, row: int, col: int) -> bool:
    if mark is None:
        return False
    return mark[0] in (None, row) and mark[1] in (None, col)


def _share(word: str, value: float, digits: int, marked: bool) -> str:
    number = f"{value:.{digits}f}" if digits else ""
    text = "<br>".join(part for part in (escape(word), number) if part)
    kind = ' class="marked"' if marked else ""
    style = f"background: rgba({_WEIGHT}, {STRONGEST * min(max(value, 0.0), 1.0):.3f})"
    return f'<td{kind} style="{style}">{text}</td>'
