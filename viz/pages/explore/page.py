"""Explore: a model, an input, and where every head looks."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.request import Reads, Several, Source, TraceRequest
from viz.api import tracing
from viz.api.predictions import predicts
from viz.pages import compute, shared
from viz.pages.explore import (
    answers,
    beside,
    download,
    edits,
    examples,
    inputs,
    models,
    old_links,
    opening,
    pictures,
    preprocessing,
    recordings,
    runs,
    sizes,
    source,
    strip,
    words,
    writing,
)
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, selected, session
from viz.pages.state import params as link
from viz.pages.widgets import attention, running

if TYPE_CHECKING:
    from analysis.worth import Worth
    from models.model import Model
    from models.trace import Trace
    from viz.api.entries import TraceEntry
    from viz.api.registry import Held

PATHS = ("/",)
KINDS = ("self", "causal", "cross", "joint")  # of attention
OPENS = {"text": ("matrix", "fixed"), "image": ("image", "layer")}  # form and scale of each kind
SHORT = 8000  # characters of a text whose forward pass takes less than a second


def params(
    listed: str,
    settings: Mapping[str, Any],
    kind: attention.Kind | None = None,
    chosen: "Worth | None" = None,
) -> tuple[link.Param, ...]:
    """The page's settings and its view's selection.

    Args:
        listed: the model of the list; "" for any other.
        settings: those in a link, or of now, which defaults depend on.
        kind: of the view; None while it is unknown.
        chosen: the head to begin with, of a model without examples; None while it is unknown: a
            link then names layer and head.
    """
    heard: dict[str, Any] = {"form": "sound"} if source.READS.get(listed) == "sound" else {}
    kind = kind or ("image" if source.READS.get(listed) == "image" else None)
    form, scale = OPENS.get(kind or "", ("matrix", "fixed") if listed else ("", ""))
    begin: dict[str, Any] = {"form": form}
    begin |= (examples.begin(listed, settings) or _begin(chosen)) | heard
    return (
        *_settings(listed, settings),
        link.number("layer", begin["layer"], 0, 999),
        link.choice("attention", begin["attention"], KINDS),
        *(replace(each, default=begin.get(each.name, each.default)) for each in selected.SITE),
        link.number_or("head", begin["head"], 999, ("mean", "max")),
        link.number("token", begin["token"], 0, 99_999),
        link.choice("direction", "out", ("out", "in")),
        link.choice("scale", scale, (*selected.SCALES, "layer")),
        *(replace(each, default=begin.get(each.name, each.default)) for each in selected.FORMS),
        *selected.OVERLAY,
    )


def _begin(chosen: "Worth | None") -> dict[str, Any]:
    """The selection of a head to begin with."""
    if chosen is None:
        return dict.fromkeys(("layer", "attention", "head", "token"))
    site = chosen.site
    return {
        "layer": site.layer,
        "attention": site.kind,
        "tower": site.tower or "",
        "head": chosen.head,
        "token": chosen.query[-1],
    }


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; their defaults depend on its model and its input."""
    place, model = link.value(source.PLACE, query), link.value(source.MODEL, query)
    if f"input{link.HASH}" in query:
        query = {**query, "input": ""}  # a long text, which is no example
    return params(model if place == "catalogue" else "", query)


def prepare() -> None:
    """Reads what the page needs before its first picture."""
    words.has_template(source.MODEL.default)


def _first(query: Mapping[str, str]) -> dict[str, str]:
    """A link of now for an older one; a visit without a link begins with the text itself."""
    return old_links.renewed(query) if query else {"form": "text"}


def page() -> None:
    """Draws the page."""
    renewed = old_links.renewed if session.is_known(PAGE) else _first
    problems = link_on_entry.enter(PAGE, params_of, renewed=renewed).problems
    pictures.UPLOADED.take()
    recordings.UPLOADED.take()
    edits.take(params_of)
    writing.take()
    models.settle(examples.follow)
    _Run(problems).draw()


def _settings(listed: str, settings: Mapping[str, Any]) -> tuple[link.Param, ...]:
    """The page's settings."""
    return (
        *source.params(listed),
        *sizes.params(listed),
        *inputs.params(listed, settings),
        *words.PARAMS,
        *edits.PARAMS,
        *runs.PARAMS,
        *writing.PARAMS,
        *beside.PARAMS,
    )


def _now(kind: attention.Kind, chosen: "Worth | None" = None) -> tuple[link.Param, ...]:
    """The parameters, with the defaults of the present settings."""
    return params(source.listed(), session.current(PAGE).settings, kind, chosen)


def _kind(reads: Reads | None) -> attention.Kind:
    """The kind of view that is likely, before the trace tells."""
    return "image" if reads is not None and reads.image and not reads.text else "text"


class _Run:
    """One run of the page: what is chosen, and what is drawn of it so far.

    Until the new picture is there, the strip stays that of the last one: it is drawn first only
    where there is none yet, and after the new one where that comes soon.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = problems
        self.wanted = source.chosen()
        self.opened: Source | None = None
        self.reads = inputs.known(source.listed())  # None before a model is open that tells
        with attention.controls(PAGE):
            self.strip = strip.place()
        self.drawn = False  # the strip
        if self.reads is not None and self.reads.image:
            examples.settle()

    def draw(self) -> None:
        """Draws the strip and the view."""
        kind = _kind(self.reads)
        if self.reads is not None and not attention.has_drawn(PAGE):
            self.controls()
        self.stage = attention.stage(PAGE, kind, _now(kind), PATHS, self.strip.status)
        with self.stage.reporting():
            for problem in self.problems:
                shared.error_line(problem)
            with opening.early(self.stage, self.wanted):
                sizes.check(self.wanted)
                self.open()
                if self.opened is None:
                    self.stage.stale()
                else:
                    self.show(self.opened)
        if self.comes_soon():
            self.stage.let_paint()
        self.controls()
        if self.reads is not None:
            model = None if self.opened is None else tracing.opened(self.opened)
            self.strip.options(self.reads, model)
        opening.prepare()
        download.follow(models.followed(self.wanted))

    def comes_soon(self) -> bool:
        """Whether the picture comes soon, and may come before the controls."""
        if self.reads is None or not self.reads.text or beside.wanted():
            return False
        short = len(session.get(PAGE, "input")) <= SHORT
        return short and attention.shows(PAGE, self.wanted.layout)

    def controls(self) -> None:
        """Draws the strip, once."""
        if not self.drawn:
            self.drawn = True
            self.strip.draw(self.wanted, self.reads, self.opened)

    def open(self) -> None:
        """Opens the model, or goes back to the one before."""
        place = st.empty()
        busy = partial(running.say, PAGE, place)
        self.opened = models.first_that_opens(self.wanted, busy)
        place.empty()
        self.wanted = source.chosen()
        if self.opened is not None:
            unlisted = models.unlisted(self.opened)
            listed = inputs.known(source.listed())
            self.reads = listed if unlisted is None else compute.reads(unlisted)

    def show(self, opened: Source) -> None:
        """Traces the input, and shows the view."""
        model, stage, reads = tracing.opened(opened), self.stage, self.reads
        if reads is None:
            raise ValueError(f"{model.name}: it is not known what this model reads")
        plain, notes = inputs.request(opened, model, reads)
        if notes:
            shared.notice(" ".join(notes))
        if plain is None:
            shared.notice("Type a sentence, or choose an example.")
            stage.stale()
            return
        edited = edits.request(plain)
        whole = words.whole()
        more = writing.props(edited, model) | edits.other(plain, words=whole)
        more |= edits.props(edited, _now(stage.kind)) | beside.props(plain, stage.kind)
        more["tour"] = examples.tour()
        stage.props = more
        request = edits.request_in_view(edited)
        try:
            after = self.traced(edited, early=request == edited)
        except ValueError as error:
            if not edited.edits:
                raise
            shared.error_line(error)
            request = edited = plain
            stage.props = {**more, "edited": False, "difference": False}
            after = self.traced(plain, early=False)
        if after is None:
            return
        before = shared.entry_for(plain, words=whole)
        held = after if request == edited else before
        stage.kind = held.value.kind
        begins = examples.begin(source.listed(), session.current(PAGE).settings)
        chosen = None if begins is not None else tracing.worth(before)
        stage.params = _now(stage.kind, chosen)
        if not self.comes_soon():
            self.controls()
        self.answer(request, model, held)

    def traced(self, request: TraceRequest, *, early: bool) -> "Held[TraceEntry] | None":
        """The result of a request; None if it was stopped.

        Args:
            request: of the trace.
            early: whether the browser may ask for it meanwhile, where it comes soon.
        """
        if running.is_stopped(PAGE, request):
            self.stage.stale()
            return None
        with tracing.expecting(request, words=words.whole()) as expected:
            if early and self.comes_soon():
                self.stage.expect(expected, self.wanted.layout)
            running.traced(PAGE, request)
            return tracing.entry_for(request, words=words.whole())

    def answer(
        self,
        request: TraceRequest,
        model: "Model",
        held: "Held[TraceEntry]",
    ) -> None:
        """What the model answers, and the view of what is held."""
        trace, name, kind = held.value.trace, request.model.catalogue, self.stage.kind
        _notes(request, model, trace)
        second = beside.of(request, kind)
        if kind == "image":
            example = examples.current_example()
            answers.of_picture(name, trace, example, second.titles[0] if second else "")
            if second is not None:
                other, named = second.held.value.trace, second.request.model.catalogue
                answers.of_picture(named, other, second.example, second.titles[1])
        elif not isinstance(request.input, Several):
            answers.of_text(name, model, trace, given=request.target is not None)
        can_predict = predicts(held.value)
        self.stage.show(
            held,
            of=self.wanted.layout,
            predicts=can_predict,
            more=edits.with_source(second.props) if second else None,
        )


def _notes(request: TraceRequest, model: "Model", trace: "Trace") -> None:
    """What was done to the input."""
    done = dict.fromkeys((*tracing.notes_of(request), *trace.notes))
    if answers.is_written(model, trace):
        done.pop(answers.GREEDY, None)  # the line of what was written says so
    assumed = preprocessing.assumed(model)
    texts = {note: shared.plain(note) for note in done}
    marked = [f":orange-background[{texts[n]}]" if n in assumed else texts[n] for n in done]
    if marked:
        st.caption("; ".join(marked))
