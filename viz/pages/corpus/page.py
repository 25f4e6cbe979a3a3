"""Heads: what the heads of a model do over a corpus, from the files of a run."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.api import compared, corpus, runs
from viz.api.registry import Held
from viz.pages import shared
from viz.pages.corpus import begin
from viz.pages.corpus.begin import FIRST, PAGE
from viz.pages.state import link_on_entry, selected, session
from viz.pages.state import params as link
from viz.pages.widgets import attention, controls
from viz.selection import OF_VIEWS

if TYPE_CHECKING:
    from viz.api.entries import RunEntry

KINDS = ("self", "causal", "cross")
NONE = "none"  # no second run


def settings() -> tuple[link.Param, ...]:
    """The page's settings."""
    return (
        link.choice("run", FIRST, (*runs.choices(), runs.FOLDER)),
        link.text("folder", ""),
        link.choice("against", NONE, (NONE, *runs.choices(), runs.FOLDER)),
        link.text("against_folder", ""),
        *begin.PARAMS,
    )


def params(begin: dict[str, Any] | None = None, plot: str | None = None) -> tuple[link.Param, ...]:
    """The page's settings and its view's selection.

    Args:
        begin: the address of the head that is shown first; None while it is unknown.
        plot: the axes of the dots that are shown first; None while they are unknown.
    """
    selection = (
        link.number("layer", None, 0, 999),
        link.choice("attention", "", ("", *KINDS)),
        *selected.SITE,
        link.number("head", None, 0, 999),
        selected.param(OF_VIEWS["plot"]),
        selected.param(OF_VIEWS["rank"]),
    )
    return (*settings(), *link.with_defaults(selection, {"plot": plot, **(begin or {})}))


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, params()).problems
    st.markdown("#### What do the heads of a model do over a corpus?")
    with attention.controls(PAGE):
        for problem in problems:
            shared.error_line(problem)
        _choose()
        begin.draw()
    with attention.Stage(PAGE, "corpus", params()).reporting() as stage:
        held = _opened()
        stage.params = params(compared.begin(held.value), compared.first_plot(held.value))
        stage.show(held, of=held.id)
    st.caption(
        "These are means over this corpus: on other texts, and on any single one, a head can do"
        " something else. An interval says how sure a mean is, not how often it holds."
    )


def _choose() -> None:
    with st.container(key=f"{PAGE}_choice", horizontal=True, gap="medium"):
        titles = runs.choices()
        help = "What was read, by which model; `python -m analysis.corpus` makes others"
        _select("run", "Run", titles, FIRST, "folder", help, 520)
        help = "A second run, B: of another checkpoint, another model, or over another corpus"
        _select(
            "against", "Compare with", {NONE: "Nothing"} | titles, NONE, "against_folder", help, 360
        )


def _select(
    name: str, label: str, titles: dict[str, str], usual: str, folder: str, help: str, width: int
) -> None:
    """The choice of a run, and where its folder is typed."""
    if session.get(PAGE, name) not in titles:
        session.edit(PAGE, {name: usual})
    if controls.select(PAGE, name, label, titles, help, width=width) == runs.FOLDER:
        help = "With the files of a run"
        controls.text_input(PAGE, folder, "Folder", help, placeholder="/path/to/a/run")


def _opened() -> "Held[RunEntry]":
    chosen, folder = session.get(PAGE, "run"), session.get(PAGE, "folder")
    first = runs.chosen(chosen, folder)
    against = session.get(PAGE, "against")
    if against == NONE:
        return corpus.hold(first)
    typed = session.get(PAGE, "against_folder")
    linked = {"run": against} | ({"folder": typed} if against == runs.FOLDER else {})
    return corpus.hold(first, runs.chosen(against, typed), linked)
