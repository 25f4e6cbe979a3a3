"""Numbers that a reader can change: a matrix of small boxes, each with its setting in the link."""

from collections.abc import Sequence

import streamlit as st

from viz.pages import shared
from viz.pages.state import params as link

SPAN = (-100.0, 100.0)


def params(prefix: str, values: Sequence[Sequence[float]]) -> tuple[link.Param, ...]:
    """One setting for each number of a matrix: prefix, row and column, counted from 1."""
    return tuple(
        link.decimal(f"{prefix}{row}{col}", value, *SPAN)
        for row, line in enumerate(values, 1)
        for col, value in enumerate(line, 1)
    )


def grid(
    page: str, prefix: str, rows: Sequence[str], cols: Sequence[str], *, step: float = 0.1
) -> list[list[float]]:
    """The boxes of a matrix.

    Args:
        page: whose settings they are.
        prefix: as for `params`.
        rows: a name for each row.
        cols: a name for each column.
        step: by which a key press changes a number.

    Returns:
        What they hold.
    """
    for row, title in enumerate(rows, 1):
        with st.container(key=f"lesson_grid_{page}_{prefix}{row}", horizontal=True, gap="xsmall"):
            for col, name in enumerate(cols, 1):
                key = f"{page}_{prefix}{row}{col}"
                label = f"{title}, {name}" if title else name
                st.number_input(
                    label,
                    value=None,  # else a box that is emptied would hold the smallest number
                    min_value=SPAN[0],
                    max_value=SPAN[1],
                    step=step,
                    format="%.4f",
                    key=key,
                    persist_state="session",
                    on_change=_refill,
                    args=(page, prefix, row, col, label),
                    width=150 if st.session_state.get("projector") else 112,
                )
    if told := st.session_state.pop(f"{page}_{prefix}_emptied", None):
        shared.error_line(ValueError(f"{told}: expected a number, received none; the last is back"))
    found = values(page, prefix, len(rows), len(cols))
    st.session_state[f"{page}_{prefix}_last"] = found
    return found


def _refill(page: str, prefix: str, row: int, col: int, label: str) -> None:
    """A box that was emptied gets its last number back."""
    key = f"{page}_{prefix}{row}{col}"
    if st.session_state[key] is None:
        st.session_state[key] = st.session_state[f"{page}_{prefix}_last"][row - 1][col - 1]
        st.session_state[f"{page}_{prefix}_emptied"] = label


def values(page: str, prefix: str, rows: int, cols: int) -> list[list[float]]:
    """What the boxes hold."""
    return [
        [float(st.session_state[f"{page}_{prefix}{row}{col}"]) for col in range(1, cols + 1)]
        for row in range(1, rows + 1)
    ]
