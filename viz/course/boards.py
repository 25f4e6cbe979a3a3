"""What a lesson's numbers are made of, and boards: pictures as rows of matrices and tables.

A lesson's `BOARDS` maps the names of steps to functions of the inputs. The browser module
`viz/web/story/board.js` draws what they return.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Kind = Literal["plain", "weights", "signed", "dots", "curve", "picture"]
Span = tuple[float, float, str]  # of an axis: from, to, and its name
Panel = dict[str, Any]
Board = dict[str, Any]


def plain(**named: Any) -> dict[str, Any]:
    """Values by name: tensors as lists, or as numbers where they have no axes."""
    return {
        name: each.tolist() if hasattr(each, "tolist") else each for name, each in named.items()
    }


def panel(
    title: str,
    values: Any,
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
        values: a tensor, or row by row; None is a masked cell, a text is shown as it is.
        rows: names of the rows.
        cols: names of the columns.
        kind: colours: "weights" from 0 to 1, "signed" below and above 0, "plain" for none; or
            those of `dots`, `curve` and `picture`.
        digits: after the decimal point; −1 for colours alone.
        sign: before it, such as "·", "=" or "→".
    """
    about = {"title": title, "kind": kind, "digits": digits, "sign": sign}
    return {**about, **plain(values=values), "rows": [*rows], "cols": [*cols]}


def signed(title: str, values: Any, **look: Any) -> Panel:
    """A matrix whose colours are below and above 0."""
    return panel(title, values, kind="signed", **look)


def table(title: str, rows: Mapping[str, Any], cols: Sequence[str], **look: Any) -> Panel:
    """A panel whose rows are given by name."""
    return panel(title, [*rows.values()], rows=[*rows], cols=cols, **{"digits": 4, **look})


def board(*rows: Sequence[Panel], **facts: Any) -> Board:
    """Rows of panels, and the numbers that the step's text names as `{board.…}`."""
    return {"rows": [[*row] for row in rows], **plain(**facts)}


def dots(title: str, named: Mapping[str, float], others: Sequence[float]) -> Panel:
    """Numbers as dots on a line: some with their names, and controls without."""
    rows = [*named, *("" for _ in others)]
    values = [[value] for value in (*named.values(), *others)]
    return panel(title, values, rows=rows, kind="dots", digits=3)


def curve(title: str, heights: Sequence[float], *, step: float, span: Span | None = None) -> Panel:
    """Numbers of one sign at equal distances, drawn from 0 to the largest over an axis.

    Args:
        title: above it.
        heights: from 0 on.
        step: seconds from one to the next, along the axis, which begins at 0.
        span: a part of the axis to be marked.
    """
    rows = [f"{at * step:.2f} s" for at in range(len(heights))]
    values = [[height] for height in heights]
    plotted = panel(title, values, rows=rows, cols=["weight"], kind="curve", digits=4)
    return {**plotted, **_axis(len(heights) * step, span)}


def picture(
    title: str,
    hrefs: Sequence[str],
    *,
    high: float | None = None,
    span: Span | None = None,
) -> Panel:
    """A picture, or parts of one side by side.

    Args:
        title: above it.
        hrefs: data: URLs.
        high: second at which the axis below it ends; it begins at 0. None: no axis.
        span: a part of the axis to be framed.
    """
    plotted = {**panel(title, [], kind="picture"), "hrefs": list(hrefs)}
    return plotted if high is None else {**plotted, **_axis(high, span)}


def _axis(high: float, span: Span | None) -> Panel:
    axis: Panel = {"axis": {"low": 0, "high": high, "unit": "s"}}
    if span is None:
        return axis
    return {**axis, "span": dict(zip(("low", "high", "name"), span, strict=True))}


def power(value: float) -> str:
    """A number, to one decimal, times a power of ten: 1.5·10⁻³²."""
    text, exponent = f"{value:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{text}·10{raised}".replace("-", "−")
