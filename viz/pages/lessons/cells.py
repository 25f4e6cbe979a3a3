"""Tables whose cells hold a word and a number, as HTML: which head does what, who is seen by whom.

The colour says the number, the word says what it is of.
"""

from collections.abc import Sequence
from html import escape

from viz.pages.lessons import prose

BLUE = "92, 118, 235"  # behind text of either mode; at most half opaque
STRONGEST = 0.5


def cells(
    words: Sequence[Sequence[str]],
    shares: Sequence[Sequence[float]],
    *,
    title: str,
    rows: Sequence[str],
    cols: Sequence[str],
    mark: tuple[int, int] | None = None,
    digits: int = 2,
    told: str = "",
) -> str:
    """A table as HTML.

    Args:
        words: of each cell; an empty one leaves the number alone.
        shares: from 0 to 1: the number and the colour of each cell.
        title: what it is, in the marks of `prose`.
        rows: a name for each row.
        cols: a name for each column.
        mark: the cell to point at.
        digits: after the point; 0 shows no number.
        told: a line below the title.
    """
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in cols)
    lines = [f"<tr><td></td>{head}</tr>"]
    for number, name in enumerate(rows):
        body = "".join(
            _cell(word, share, digits, mark == (number, col))
            for col, (word, share) in enumerate(zip(words[number], shares[number], strict=True))
        )
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{body}</tr>')
    return (
        f'<figure class="lesson-matrix"><figcaption>{prose.html(title)}'
        f"<small>{escape(told)}</small></figcaption><table>{''.join(lines)}</table></figure>"
    )


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, title: str) -> str:
    """A table of text and numbers that are written already; its first column names the rows."""
    head = "".join(f'<th scope="col">{prose.html(name)}</th>' for name in titles)
    lines = [f"<tr>{head}</tr>"]
    for first, *rest in rows:
        body = "".join(f"<td>{prose.html(text)}</td>" for text in rest)
        lines.append(f'<tr><th scope="row">{prose.html(first)}</th>{body}</tr>')
    return (
        f'<figure class="lesson-matrix lesson-table"><figcaption>{prose.html(title)}</figcaption>'
        f"<table>{''.join(lines)}</table></figure>"
    )


def _cell(word: str, share: float, digits: int, marked: bool) -> str:
    number = f"{share:.{digits}f}" if digits else ""
    text = "<br>".join(part for part in (escape(word), number) if part)
    kind = ' class="marked"' if marked else ""
    style = f"background: rgba({BLUE}, {STRONGEST * min(max(share, 0.0), 1.0):.3f})"
    return f'<td{kind} style="{style}">{text}</td>'
