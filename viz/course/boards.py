"""What a lesson's numbers are made of, and boards: rows of matrices and tables, or a network.

A lesson's `BOARDS` maps the names of steps to functions of the inputs. The browser module
`viz/web/story/board.js` draws what they return. Numbers may be tensors: the browser gets lists.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from models.request import TraceRequest

Kind = Literal["plain", "weights", "signed", "bars", "picture"]
Span = tuple[float, float, str]  # of an axis in seconds: from, to, and its name
Panel = dict[str, Any]
Board = dict[str, Any]


def plain(value: Any) -> Any:
    """A value with lists in place of tensors and tuples, as JSON has it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [*map(plain, value)] if isinstance(value, list | tuple) else value


def panel(
    title: str,
    values: Any,
    *,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    kind: Kind = "plain",
    digits: int = 2,
    sign: str = "",
    shades: Any = None,
) -> Panel:
    """A matrix or table.

    Args:
        title: above it, with `_{…}` and `^{…}` for what is below and above the line.
        values: a tensor, or row by row; None is a masked cell, a text is shown as it is.
        rows: names of the rows.
        cols: names of the columns.
        kind: colours: "weights" from 0 to 1, "signed" below and above 0, "plain" for none; or those
            of `bars` and `picture`.
        digits: after the decimal point; −1 for colours alone.
        sign: before it, such as "·", "=" or "→".
        shades: weights that colour cells of texts.
    """
    about = {"title": title, "kind": kind, "digits": digits, "sign": sign, "shades": shades}
    return {**about, "values": values, "rows": rows, "cols": cols}


def signed(title: str, values: Any, **look: Any) -> Panel:
    """A matrix whose colours are below and above 0."""
    return panel(title, values, kind="signed", **look)


def table(title: str, rows: Mapping[str, Any], cols: Sequence[str], **look: Any) -> Panel:
    """A panel whose rows are given by name."""
    return panel(title, [*rows.values()], rows=[*rows], cols=cols, **{"digits": 4, **look})


def board(*rows: Sequence[Panel], **facts: Any) -> Board:
    """Rows of panels, and the numbers that the step's text names as `{board.…}`."""
    return {"rows": rows, **facts}


def network(request: "TraceRequest", card: str, opened: str = "", **facts: Any) -> Board:
    """A network as the page Build shows it, in place of rows of panels.

    Args:
        request: of the pass that it shows.
        card: the address of the card that comes first.
        opened: what is open in it, as `open` in a link to Build.
        facts: the numbers that the step's text names.
    """
    return board(network={"trace": request, "card": card, "open": opened}, **facts)


def bars(
    title: str,
    heights: Sequence[float],
    rows: Sequence[str],
    lit: tuple[int, int] = (0, 1),
    digits: int = 2,
) -> Panel:
    """Numbers of one sign as bars with names; those of a range stand out."""
    values = [[height] for height in heights]
    return {**panel(title, values, rows=rows, kind="bars", digits=digits), "lit": lit}


def picture(title: str, hrefs: Sequence[str], end: float = 0, span: Span | None = None) -> Panel:
    """A picture, or parts of one side by side.

    Args:
        title: above it.
        hrefs: data: URLs.
        end: second at which the axis below it ends; 0 for no axis.
        span: a part of the axis to be framed.
    """
    return {**panel(title, [], kind="picture"), "hrefs": hrefs, "end": end, "span": span}


def power(value: float) -> str:
    """A number, to one decimal, times a power of ten: 1.5·10⁻³²."""
    text, exponent = f"{value:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{text}·10{raised}".replace("-", "−")
