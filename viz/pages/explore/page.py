"""Explore: a model, an input, and where every head looks."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.request import Reads, Several, Source, TraceRequest
from viz.api import tracing
from viz.api.entries import no_predictions
from viz.pages import shared
from viz.pages.explore import (
    answers,
    beside,
    card,
    chooser,
    compute,
    cost,
    edits,
    examples,
    figures,
    inputs,
    old_links,
    opening,
    preprocessing,
    recordings,
    runs,
    sizes,
    source,
    welcome,
    words,
    writing,
)
from viz.pages.explore import download as fetching
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, selected, session
from viz.pages.state import params as link
from viz.pages.widgets import attention, pictures, running, verification

if TYPE_CHECKING:
    from analysis.worth import Worth
    from models.model import Model
    from models.trace import Trace
    from viz.api.entries import TraceEntry
    from viz.api.registry import Held

PATHS = ("/",)
KINDS = ("self", "causal", "cross", "joint")  # of attention
SCALES = {"text": "fixed", "image": "layer"}  # default of each kind of view
UNEDITED = (
    "Relevance for an output and the check of the weights run the pass without edits: show “Before”"
    " to use them."
)
OVER_PICTURE = tuple(f"over{part}" for part in ("", "_head", "_query", "_row", "_column", "_score"))
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
    begin = (examples.begin(listed, settings) or _begin(chosen)) | heard
    kind = kind or ("image" if source.READS.get(listed) == "image" else None)
    scale = SCALES.get(kind or "", "fixed" if listed else "")
    return (
        *_settings(listed, settings),
        chooser.shelf(settings),
        link.number("layer", begin["layer"], 0, 999),
        link.choice("attention", begin["attention"], KINDS),
        *(replace(each, default=begin.get(each.name, each.default)) for each in selected.SITE),
        link.number_or("head", begin["head"], 999, ("mean", "max")),
        link.number("token", begin["token"], 0, 99_999),
        link.choice("direction", "out", ("out", "in")),
        replace(
            link.choice("scale", scale, (*selected.SCALES, "layer")), replaced={"log": "fixed"}
        ),
        *(replace(each, default=begin.get(each.name, each.default)) for each in selected.FORMS),
        *selected.OVERLAY,
        link.retired("cut"),
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
    words.of_catalogue(source.MODEL.default)
    words.has_template(source.MODEL.default)


def page() -> None:
    """Draws the page."""
    first = not session.is_known(PAGE)
    problems = link_on_entry.enter(PAGE, params_of, renewed=old_links.renewed).problems
    welcome.settle(first, params_of)
    pictures.take(PAGE)
    recordings.UPLOADED.take()
    edits.take(params_of)
    writing.take()
    chooser.settle(examples.follow)
    _Run(problems).draw()


def _settings(listed: str, settings: Mapping[str, Any]) -> tuple[link.Param, ...]:
    """The page's settings, the chooser aside."""
    return (
        *source.params(listed),
        *sizes.params(listed),
        *card.PARAMS,
        *inputs.params(listed, settings),
        *words.PARAMS,
        *map(link.retired, (*OVER_PICTURE, *old_links.NAMES)),
        *figures.PARAMS,
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

    The controls come before the view, or after it where the picture comes soon: then the browser
    has nearly all of them, and waits for the picture.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = problems
        self.wanted = source.chosen()
        self.reads = inputs.known(source.listed())  # None before a model is open that tells
        self.above = attention.controls(PAGE)
        self.entries: inputs.Entries | None = None
        self.given: DeltaGenerator | None = None  # which an embed link leaves out
        if self.reads is not None and self.reads.image:
            examples.settle()

    def draw(self) -> None:
        """Draws the controls and the view."""
        soon, kind, opened, request = self.comes_soon(), _kind(self.reads), None, None
        if not soon:
            self.controls()
        with (
            attention.stage(PAGE, kind, _now(kind), PATHS) as self.stage,
            opening.early(self.stage, self.wanted, self.entries),
        ):
            if cost.allowed(self.wanted):
                opened = chooser.first_that_opens(self.wanted, quietly=self.stage.drawn)
            if opened is None:
                self.stage.stale()
            else:
                request = self.show(opened)
        if soon:
            self.stage.let_paint()
            self.controls()
        if request is not None and self.entries is not None:
            card.about(self.entries.about, request.model)
        if opened is not None:
            with self.stage.below:
                card.show(opened, tracing.opened(opened))
            opening.prepare()
        fetching.follow(self.wanted.name)

    def comes_soon(self) -> bool:
        """Whether the picture comes soon, and may come before the controls."""
        if self.reads is None or not self.reads.text or beside.wanted():
            return False
        short = len(session.get(PAGE, "input")) <= SHORT
        return short and attention.shows(PAGE, self.wanted.layout)

    def controls(self) -> None:
        """Draws what is above the view."""
        with self.above:
            welcome.draw(params_of)
            key = f"{PAGE}_heading"
            with st.container(key=key, horizontal=True, vertical_alignment="center"):
                st.markdown("#### What does every head look at?", width="content")
                if self.reads is None or not (self.reads.text and examples.buttons()):
                    st.space("stretch")
                chooser.button()
            chooser.lists()
            for problem in self.problems:
                shared.error_line(problem)
            sizes.controls()
            self.given = st.container(key=f"{PAGE}_given", gap="small")
            if self.reads is not None:
                with self.given:
                    self.entries = inputs.draw(self.reads)

    def read_from(self, opened: Source, model: "Model") -> inputs.Entries:
        """The entries that the request is read from; those of an opened model are drawn now."""
        if self.given is None:  # they come after the view
            return inputs.Entries(self.reads or compute.reads(model))
        if self.entries is None or opened.name != self.wanted.name:
            with self.given:
                self.entries = inputs.draw(compute.reads(model), model)
        return self.entries

    def show(self, opened: Source) -> TraceRequest | None:
        """Traces the input, and shows the view.

        Returns:
            The request of what is shown; None if that is the last picture, or none.
        """
        model, stage = tracing.opened(opened), self.stage
        entries = self.read_from(opened, model)
        plain, notes = inputs.request(opened, model, entries)
        if notes:
            shared.notice(" ".join(notes))
        if plain is None:
            shared.notice("Type a sentence, or choose an example.")
            stage.stale()
            return None
        edited = edits.request(plain)
        names = inputs.special_names(entries.reads, None if source.listed() else model)
        between = words.chosen(PAGE, names)
        more = writing.props(edited, model) | edits.other(plain, between)
        more |= edits.props(edited, _now(stage.kind)) | beside.props(plain, stage.kind)
        stage.props = more
        request = edits.request_in_view(edited)
        try:
            after = self.traced(edited, between, early=request == edited)
        except ValueError as error:
            if not edited.edits:
                raise
            shared.error_line(error)
            request = edited = plain
            stage.props = {**more, "edited": False, "difference": False}
            after = self.traced(plain, between, early=False)
        if after is None:
            return None
        before = shared.entry_for(plain, between)
        held = after if request == edited else before
        stage.kind = held.value.kind
        begins = examples.begin(source.listed(), session.current(PAGE).settings)
        chosen = None if begins is not None else tracing.worth(before)
        stage.params = _now(stage.kind, chosen)
        stage.props = {**stage.props, "hinted": chosen is not None, "tour": examples.tour()}
        if chosen is not None:
            reason = answers.reason(chosen)
            (entries.hint or st).caption(shared.plain(reason))
        self.answer(request, model, held, entries)
        with stage.below:
            _below(stage.kind, request, held)
        return plain

    def traced(
        self, request: TraceRequest, between: tracing.Between, *, early: bool
    ) -> "Held[TraceEntry] | None":
        """The result of a request; None if it was stopped.

        Args:
            request: of the trace.
            between: what its weights are between.
            early: whether the browser may ask for it meanwhile, where the controls come later.
        """
        run = running.Pass(PAGE, tracing.id_of(request), lambda: tracing.cost(request))
        if run.stopped:
            run.offer()
            self.stage.stale()
            return None
        with tracing.expecting(request, between) as expected:
            if early and self.given is None:
                self.stage.expect(expected, self.wanted.layout)
            with run.progress() as progress:
                tracing.traced(request, progress, shared.waiting(progress))
            return tracing.entry_for(request, between)

    def answer(
        self,
        request: TraceRequest,
        model: "Model",
        held: "Held[TraceEntry]",
        entries: inputs.Entries,
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
        predicts = held.value.predict is not no_predictions
        self.stage.show(
            held,
            of=self.wanted.layout,
            panels=["predictions", "code"] if predicts else ["code"],
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


def _below(kind: attention.Kind, request: TraceRequest, held: "Held[TraceEntry]") -> None:
    """What stands below the view: whether it is right, and what else is known of the picture."""
    if request.edits:
        st.caption(UNEDITED)
    elif not isinstance(request.input, Several):
        verification.button(PAGE, held.id, lambda: tracing.arguments(request))
    if request.picture is not None and kind == "image":
        figures.show(request)
