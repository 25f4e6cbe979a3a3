"""The attention view of a page: loading, shown, or dimmed with its last picture."""

import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import streamlit as st
from headscope_views import view
from streamlit.delta_generator import DeltaGenerator

from viz.api.endpoint import ResultKind
from viz.api.registry import Held
from viz.pages import shared
from viz.pages.state import params as link
from viz.pages.state import session

PAINT_SECONDS = 0.06  # in which the browser fetches and paints a new picture, mostly


class Drawn(NamedTuple):
    """The last picture of a page: its kind, its props, what it is of, and in which revision."""

    kind: ResultKind
    picture: dict[str, Any]
    of: Hashable
    revision: int


class Stage:
    """The view of a page. If its kind and parameters depend on the trace, the page sets them before
    `show`; `props` are further ones, whatever is shown.
    """

    def __init__(
        self,
        page: str,
        kind: ResultKind,
        params: tuple[link.Param, ...],
        paths: tuple[str, ...] = (),
        above: DeltaGenerator | None = None,
    ) -> None:
        """The container of the view. Before the first picture, the browser loads the view's code
        while the server loads the model.

        Args:
            page: name of the page.
            kind: of view.
            params: the page's settings and the view's selection.
            paths: URL paths of the page.
            above: where messages stand; None for above the view.
        """
        self.page, self.params, self.paths = page, params, paths
        self.kind: ResultKind = kind
        self.above = above or st.container(key=f"{page}_notes", gap="small")
        # the view is not drawn in the empty element: emptying that in each run would unmount it
        self.place, waiting = st.container(), st.empty()
        self.props: Mapping[str, Any] = {}
        self.sent: Drawn | None = None  # the picture that this run sent to the browser
        self.is_new = False  # whether that is another one than the last
        # to empty it once more would hold up the message about the picture
        self.waiting = None if has_drawn(page) else waiting
        if self.waiting is not None:
            with waiting.container():
                view("preload", {"load": kind}, key=f"{page}_{kind}_preload")

    def expect(self, result: Held, of: Hashable) -> None:
        """Tells the browser what `show` is going to draw, so that it asks for it meanwhile.

        The last picture counts as drawn until then, and is that of `stale` if nothing follows. It
        tells whether there will be predictions.

        Args:
            result: which the trace will be.
            of: as `show` has it.
        """
        last = _last(self.page)
        predicts = last is not None and last.picture.get("predicts", False)
        self._tell(result, of, {"predicts": predicts})

    def show(
        self, held: Held, *, of: Hashable = None, more: Mapping[str, Any] | None = None
    ) -> None:
        """Draws a trace.

        Args:
            held: the trace.
            of: equal for all networks with the same layers and heads; for `shows` and a later
                `expect`.
            more: props of the view's kind.
        """
        if self.sent is None:
            self._tell(held, of, more or {})
        st.session_state[f"{self.page}/drawn"] = self.sent

    def stale(self) -> None:
        """Keeps the last picture, dimmed, because the current settings cannot be drawn."""
        if (last := _last(self.page)) is None:
            if self.waiting is not None:
                self.waiting.empty()
            address(self.page, self.params, self.paths)
        else:
            self._mount(last.kind, {**last.picture, "busy": True})

    @contextmanager
    def reporting(self) -> "Iterator[Stage]":
        """What is drawn inside stands with the messages; a ValueError becomes one of them."""
        with self.above:
            try:
                yield self
            except ValueError as error:
                shared.error_line(error)
                if self.sent is None:
                    self.stale()

    def let_paint(self) -> None:
        """Lets the browser fetch and paint a new picture before the page draws what follows."""
        if self.is_new:
            time.sleep(PAINT_SECONDS)

    def _tell(self, result: Held, of: Hashable, more: Mapping[str, Any]) -> None:
        picture = {"trace": result.id, **self.props, **more}
        self.sent = Drawn(self.kind, picture, of, session.current(self.page).revision)
        last = _last(self.page)
        self.is_new = last is None or (last.kind, last.picture) != (self.kind, picture)
        self._mount(self.kind, {**picture, "busy": False})

    def _mount(self, kind: ResultKind, picture: dict[str, Any]) -> None:
        props = session.props(self.page, self.params, self.paths) | picture
        if self.waiting is not None:
            self.waiting.empty()
        with self.place:
            view(kind, props, key=f"{self.page}_view", on=("trace_lost", "edit", "write"))


def controls(page: str) -> DeltaGenerator:
    """The container of everything above the view.

    It always exists as one element: Streamlit identifies elements by position, and would remount
    the view if the number of elements above it changed.
    """
    return st.container(key=f"{page}_before")


def _last(page: str) -> Drawn | None:
    return st.session_state.get(f"{page}/drawn")


def has_drawn(page: str) -> bool:
    """Whether there is a last picture that `stale` can dim."""
    return _last(page) is not None


def shows(page: str, of: Hashable) -> bool:
    """Whether the last picture is of this model, which is open, by the controls that are there.

    The next one then comes soon, and may come before the controls. After an example, a preset or a
    link, the controls come first: who sees the picture may type into the boxes beside it.
    """
    last = _last(page)
    return last is not None and (last.of, last.revision) == (of, session.current(page).revision)


def address(page: str, params: tuple[link.Param, ...], paths: tuple[str, ...] = ()) -> None:
    """Writes the link of a page without a view."""
    view("address", session.props(page, params, paths), key=f"{page}_address")
