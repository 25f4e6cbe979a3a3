"""Explore: a model, an input, and where every head looks."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.request import Source, TraceRequest
from viz.api import tracing
from viz.api.predictions import predicts
from viz.pages import compute, shared
from viz.pages.explore import (
    answers,
    beside,
    edits,
    examples,
    files,
    inputs,
    models,
    old_links,
    opening,
    source,
)
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, selected, session
from viz.pages.state import params as link
from viz.pages.widgets import attention, running
from viz.values import HEAD

if TYPE_CHECKING:
    from analysis.worth import Worth
    from viz.api.entries import TraceEntry
    from viz.api.registry import Held

PATHS = ("/",)
KINDS = ("self", "causal", "cross", "joint")  # of attention
SELECTION = (
    link.number("layer", None, 0, 999),
    link.choice("attention", "", KINDS),
    *selected.SITE,
    link.Param("head", 0, HEAD),
    link.number("token", None, 0, 99_999),
    link.choice("direction", "out", ("out", "in")),
    link.choice("scale", "", (*selected.SCALES, "layer")),
    *selected.FORMS,
    *selected.OVERLAY,
)
OPENS = {"text": ("matrix", "fixed"), "image": ("image", "layer")}  # form and scale of each kind


def params(
    listed: str,
    given: Mapping[str, Any],
    kind: attention.ResultKind | None = None,
    chosen: "Worth | None" = None,
) -> tuple[link.Param, ...]:
    """The page's settings and its view's selection.

    Args:
        listed: the model of the list; "" for any other.
        given: the settings in a link, or of now, which defaults depend on.
        kind: of the view; None while it is unknown.
        chosen: the head to begin with, of a model without examples; None while it is unknown: a
            link then names layer and head.
    """
    reads = source.READS.get(listed)
    kind = kind or ("image" if reads == "image" else None)
    form, scale = OPENS.get(kind or "", ("matrix", "fixed") if listed else ("", ""))
    begin: dict[str, Any] = {"form": form, "scale": scale}
    begin |= examples.begin(listed, given) or _begin(chosen)
    if reads == "sound":
        begin["form"] = "sound"
    settings = edits.PARAMS, answers.PARAMS, beside.PARAMS
    selection = link.with_defaults(SELECTION, begin)
    return (*source.params(listed), *inputs.params(listed), *chain(*settings), *selection)


def _begin(chosen: "Worth | None") -> dict[str, Any]:
    """The selection of a head to begin with."""
    if chosen is None:
        return dict.fromkeys(("layer", "attention", "head", "token"))
    site = chosen.site
    where = {"layer": site.layer, "attention": site.kind, "tower": site.tower or ""}
    return where | {"head": chosen.head, "token": chosen.query[-1]}


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; their defaults depend on its model and its input."""
    place, model = link.value(source.PLACE, query), link.value(source.MODEL, query)
    if f"input{link.HASH}" in query:
        query = {**query, "input": ""}  # a long text, which is no example
    return params(model if place == "catalogue" else "", query)


def _now(kind: attention.ResultKind, chosen: "Worth | None" = None) -> tuple[link.Param, ...]:
    """The parameters, with the defaults of the present settings."""
    return params(source.listed(), session.current(PAGE).settings, kind, chosen)


def _first(query: Mapping[str, str]) -> dict[str, str]:
    """A link of now for an older one; a visit without a link begins with the text itself."""
    return old_links.renewed(query) if query else {"form": "text"}


def page() -> None:
    """Draws the page."""
    renewed = old_links.renewed if session.is_known(PAGE) else _first
    problems = link_on_entry.enter(PAGE, params_of, renewed=renewed).problems
    files.PICTURE.take()
    files.RECORDING.take()
    edits.take()
    answers.take()
    models.take()
    _Run().draw(problems)


class _Run:
    """One run of the page: what is chosen, and what is drawn of it so far.

    The strip above the picture is as high whatever it says: lists and long notices open over the
    page. It is drawn once: before a first picture, after the next one of the same model.
    """

    def __init__(self) -> None:
        self.wanted = source.chosen()
        self.opened: Source | None = None
        self.reads = inputs.known(source.listed())  # None before a model is open that tells
        self.soon = attention.shows(PAGE, self.wanted.layout)
        self.drawn = False  # the strip
        with attention.controls(PAGE), st.container(key=f"{PAGE}_strip"):
            title = "presented" if session.app("projector") == "yes" else "title"
            with st.container(key=f"{PAGE}_{title}"):  # for screen readers
                st.markdown("#### Which words does each word look at?")
            across: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center"}
            names = ("input", "model", "examples")
            rows = [st.container(key=f"{PAGE}_{name}", gap="small", **across) for name in names]
            self.input, self.model, self.examples = rows
            self.status = st.container(key=f"{PAGE}_status", gap="small")

    def draw(self, problems: Iterable[str]) -> None:
        """Draws the strip and the view."""
        image = self.reads is not None and self.reads.image
        if image:
            examples.settle()
        if self.reads is not None and not attention.has_drawn(PAGE):
            self.strip()
        kind = "image" if image else "text"  # that is likely, before the trace tells
        self.stage = attention.Stage(PAGE, kind, _now(kind), PATHS, self.status)
        with self.stage.reporting():
            for problem in problems:
                shared.error_line(problem)
            with opening.early(self.stage, self.wanted):
                self.open()
                if self.opened is None:
                    self.stage.stale()
                else:
                    self.show(self.opened)
        if self.soon:
            self.stage.let_paint()
        self.strip()
        if self.opened is not None and self.reads is not None:
            with self.menu:
                inputs.options(self.reads, tracing.opened(self.opened))
        opening.prepare()
        models.follow()

    def strip(self) -> None:
        """Draws what is chosen: input, model, examples, and what is to be known of them."""
        if self.drawn:
            return
        self.drawn = True
        with self.model:
            models.button(self.opened)
        if self.wanted.place == "built":
            with self.examples:
                models.to_build("Change it in Build")
        if self.reads is None:
            return
        with self.input:
            unlisted = None if source.listed() else self.opened
            inputs.row(self.reads, unlisted and tracing.opened(unlisted))
        with self.examples:
            self.menu = examples.chips(self.reads)
        with self.status:
            inputs.problems(self.reads)
            known = models.about(self.wanted)[2]
            st.caption(f":green[{shared.plain(known)}]" if "✓" in known else shared.plain(known))
            examples.hint()

    def open(self) -> None:
        """Opens the model."""
        place = st.empty()
        try:
            self.opened = models.open_or_offer(self.wanted, partial(running.say, PAGE, place))
        finally:
            place.empty()
        if self.opened is not None:
            if self.reads is None:
                self.reads = compute.reads(tracing.opened(self.opened))
            if not self.soon:
                self.strip()

    def show(self, opened: Source) -> None:
        """Traces the input, and shows the view."""
        model, stage, words = tracing.opened(opened), self.stage, inputs.whole_words()
        reads = self.reads or compute.reads(model)
        plain, notes = inputs.request(opened, model, reads)
        if reads.image and not reads.text:
            stage.kind = "image"  # known now, also of a model that is not of the list
        if notes:
            shared.notice(" ".join(notes))
        if plain is None:
            shared.notice("Type a sentence, or choose an example.")
            stage.stale()
            return
        edited = edits.request(plain)
        more = answers.props(edited, model) | edits.other(plain, words=words)
        more |= edits.props(edited) | beside.props(plain, stage.kind)
        stage.props = more | {"tour": examples.tour()}
        request = edits.request_in_view(edited)
        try:
            after = self.traced(edited, early=request == edited)
        except ValueError as error:
            if not edited.edits:
                raise
            shared.error_line(error)
            request = edited = plain
            stage.props = {**stage.props, "edited": False, "difference": False}
            after = self.traced(plain, early=False)
        if after is None:
            return
        before = shared.entry_for(plain, words=words)
        held = after if request == edited else before
        stage.kind = held.value.kind
        begins = examples.begin(source.listed(), session.current(PAGE).settings)
        stage.params = _now(stage.kind, None if begins is not None else tracing.worth(before))
        done = dict.fromkeys((*tracing.notes_of(request), *held.value.trace.notes))
        if done:
            st.caption("; ".join(map(shared.plain, done)))
        second = self.answer(request, held)
        stage.show(held, of=self.wanted.layout, more={"predicts": predicts(held.value), **second})

    def traced(self, request: TraceRequest, *, early: bool) -> "Held[TraceEntry] | None":
        """The result of a request; None if it was stopped.

        Args:
            request: of the trace.
            early: whether the browser may ask for it meanwhile, where it comes soon.
        """
        if running.is_stopped(PAGE, request):
            self.stage.stale()
            return None
        words = inputs.whole_words()
        with tracing.expecting(request, words=words) as expected:
            if early and self.soon and self.reads and self.reads.text and not beside.wanted():
                self.stage.expect(expected, self.wanted.layout)
            running.traced(PAGE, request)
            return tracing.entry_for(request, words=words)

    def answer(self, request: TraceRequest, held: "Held[TraceEntry]") -> dict[str, Any]:
        """Says what the model answers; props of what stands beside it."""
        trace, name, kind = held.value.trace, request.model.catalogue, self.stage.kind
        second = beside.of(request, kind)
        if kind == "image":
            titles = second.titles if second else ("", "")
            answers.of_picture(name, trace, examples.current(), titles[0])
            if second is not None:
                other, named = second.held.value.trace, second.request.model.catalogue
                answers.of_picture(named, other, second.example, titles[1])
        else:
            model = tracing.opened(request.model)
            answers.of_text(name, model, trace, given=request.target is not None)
        return {} if second is None else second.props
