"""Boards: the picture of a step as rows of matrices and tables, computed for its inputs.

A lesson's `BOARDS` maps the names of such steps to functions of the inputs. The browser module
`assets/story/board.js` draws what they return.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

Kind = Literal["plain", "weights", "signed", "dots"]
Panel = dict[str, Any]
Board = dict[str, Any]
Maker = Callable[[Mapping[str, Any]], Board]


def panel(
    title: str,
    values: Sequence[Sequence[float | str | None]],
    *,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    kind: Kind = "plain",
    digits: int = 2,
    sign: str = "",
) -> Panel:
    """A matrix or table.

    Args:
        title: above it, with `_{…}` and `^{…}` for what is below and above the line.
        values: row by row; None is a masked cell, a text is shown as it is.
        rows: names of the rows.
        cols: names of the columns.
        kind: colours: "weights" from 0 to 1, "signed" below and above 0, "plain" for none; or
            "dots" on a line instead of cells, of rows with one number.
        digits: after the decimal point; −1 for colours alone.
        sign: before it, such as "·", "=" or "→".
    """
    return {
        "title": title,
        "values": [list(row) for row in values],
        "rows": list(rows),
        "cols": list(cols),
        "kind": kind,
        "digits": digits,
        "sign": sign,
    }


def board(*rows: Sequence[Panel], **facts: Any) -> Board:
    """Rows of panels, and the numbers that the step's text names as `{board.…}`."""
    return {"rows": [list(row) for row in rows], **facts}


def table(
    title: str,
    rows: Mapping[str, Sequence[float | str | None]],
    cols: Sequence[str],
    *,
    kind: Kind = "plain",
    digits: int = 4,
) -> Panel:
    """A panel whose rows are given by name."""
    return panel(title, [*rows.values()], rows=[*rows], cols=cols, kind=kind, digits=digits)


def dots(
    title: str, named: Mapping[str, float], others: Sequence[float], *, digits: int = 3
) -> Panel:
    """Numbers as dots on a line: some with their names, and controls without."""
    rows = [*named, *("" for _ in others)]
    values = [[value] for value in (*named.values(), *others)]
    return panel(title, values, rows=rows, kind="dots", digits=digits)


def power(value: float) -> str:
    """A number, to one decimal, times a power of ten: 1.5·10⁻³²."""
    text, exponent = f"{value:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{text}·10{raised}".replace("-", "−")
