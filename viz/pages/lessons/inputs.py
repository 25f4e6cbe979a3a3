"""Editable matrices: a grid of number inputs, each with a setting in the link."""

from collections.abc import Sequence

import streamlit as st

from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

SPAN = (-100.0, 100.0)
WIDTH, PROJECTED = 112, 150  # pixels of a box, and in the projector's larger type


def params(prefix: str, values: Sequence[Sequence[float]]) -> tuple[link.Param, ...]:
    """One setting per number of a matrix, named by prefix, row and column, counted from 1."""
    return tuple(
        link.decimal(f"{prefix}{row}{col}", value, *SPAN)
        for row, line in enumerate(values, 1)
        for col, value in enumerate(line, 1)
    )


def grid(
    page: str, prefix: str, rows: Sequence[str], cols: Sequence[str], *, step: float = 0.1
) -> list[list[float]]:
    """Draws the number inputs of a matrix.

    Args:
        page: of the settings.
        prefix: as for `params`.
        rows: names of the rows.
        cols: names of the columns.
        step: change of a number per key press.

    Returns:
        Their values.
    """
    width = PROJECTED if session.app("projector") == "yes" else WIDTH
    for row, title in enumerate(rows, 1):
        with st.container(key=f"lesson_grid_{page}_{prefix}{row}", horizontal=True, gap="xsmall"):
            for col, name in enumerate(cols, 1):
                controls.number(
                    page,
                    f"{prefix}{row}{col}",
                    f"{title}, {name}" if title else name,
                    SPAN,
                    "",
                    step=step,
                    width=width,
                    format="%.4f",
                )
    return values(page, prefix, len(rows), len(cols))


def values(page: str, prefix: str, rows: int, cols: int) -> list[list[float]]:
    """The values of a matrix."""
    return [
        [float(session.get(page, f"{prefix}{row}{col}")) for col in range(1, cols + 1)]
        for row in range(1, rows + 1)
    ]
