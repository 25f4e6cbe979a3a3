"""The place of an attention view in a page: loading, shown, or dimmed with what it showed last."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.api.registry import Held
from viz.pages import shared
from viz.pages.state import params as link
from viz.pages.state import session

Kind = Literal["text", "image"]
FORMS = (  # of a text's picture, and the heads whose lines are drawn
    link.choice("form", "matrix", ("matrix", "lines")),
    link.numbers("shown", 999),
)


@dataclass
class Stage:
    """Where a page's view goes.

    Attributes:
        page: whose it is.
        kind: of view; a page that only learns it from the trace sets it before `show`.
        params: the page's settings and the view's selection; the same.
        paths: the addresses the page may have.
        place: the view's element.
        waiting: what stands there until something was drawn.
        below: what follows it in the page.
        drawn: whether the view was drawn in this run.
    """

    page: str
    kind: Kind
    params: tuple[link.Param, ...]
    paths: tuple[str, ...]
    place: DeltaGenerator
    waiting: DeltaGenerator
    below: DeltaGenerator
    drawn: bool = False

    def show(self, held: Held, *, panels: Sequence[str] = ()) -> None:
        """Draws a trace."""
        picture = {"trace": held.id, "made": held.serial, "panels": list(panels)}
        st.session_state[f"{self.page}/drawn"] = self.kind, picture
        self._mount({**picture, "busy": False})

    def stale(self) -> None:
        """Leaves the last picture in place, dimmed: what is chosen now cannot be drawn."""
        last = st.session_state.get(f"{self.page}/drawn")
        if last is None:
            self.waiting.empty()
            address(self.page, self.params, self.paths)
        else:
            self.kind, picture = last
            self._mount({**picture, "busy": True})

    def _mount(self, picture: dict[str, Any]) -> None:
        from headscope_views import view

        props = session.props(self.page, self.params, self.paths) | picture
        self.waiting.empty()
        with self.place:
            view(self.kind, props, key=f"{self.page}_view", on=("trace_lost",))
        self.drawn = True


def controls(page: str) -> DeltaGenerator:
    """The place of everything above the view.

    It is one element of the page, always there: Streamlit tells elements apart by their place, and
    would replace the view by a new one where a line above it comes or goes.
    """
    return st.container(key=f"{page}_before")


@contextmanager
def stage(
    page: str, kind: Kind, params: tuple[link.Param, ...], paths: tuple[str, ...] = ()
) -> Iterator[Stage]:
    """The place of the view; a ValueError inside becomes one line, and the last picture stays.

    What is drawn inside stands above the view. Where nothing was drawn yet, the browser loads the
    view's code while the model is loaded.
    """
    from headscope_views import view

    above = st.container(key=f"{page}_notes", gap="small")
    place, waiting = (
        st.container(),
        st.empty(),
    )  # an element emptied in each run would lose the view
    if not has_drawn(page):
        with waiting.container():
            view("preload", {"load": kind}, key=f"{page}_{kind}_preload")
    here = Stage(page, kind, params, paths, place, waiting, st.container(gap="small"))
    with above:
        try:
            yield here
        except ValueError as error:
            shared.error_line(error)
            if not here.drawn:
                here.stale()


def has_drawn(page: str) -> bool:
    """Whether there is a last picture, which `stale` would dim."""
    return f"{page}/drawn" in st.session_state


def address(page: str, params: tuple[link.Param, ...], paths: tuple[str, ...] = ()) -> None:
    """Writes the link of a page that has no view."""
    from headscope_views import view

    view("address", session.props(page, params, paths), key=f"{page}_address")
