"""Explore: a model, an input, and where every head looks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.request import Reads, Several, Source, TraceRequest
from viz.api import behind, tracing
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
    others,
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
    from analysis.telling import Telling
    from models.model import Model
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
MOST_PARAMETERS, MOST_TOKENS = 200_000_000, 512  # of models and inputs verified at once


@dataclass
class Controls:
    """What was drawn above the view.

    Attributes:
        entries: the entries of the inputs; None where the model has to be opened first.
        given: the container of the entries.
    """

    entries: inputs.Entries | None
    given: DeltaGenerator


def params(
    listed: str,
    settings: Mapping[str, Any],
    kind: attention.Kind | None = None,
    chosen: "Telling | None" = None,
) -> tuple[link.Param, ...]:
    """The page's settings and its view's selection.

    Args:
        listed: the model of the list; "" for any other.
        settings: those in a link, or of now, which defaults depend on.
        kind: of the view; None while it is unknown.
        chosen: the head to begin with, of a model without examples; None while it is unknown: a
            link then names layer and head.
    """
    begin = examples.begin(listed, settings) or _begin(chosen)
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
        link.choice("scale", scale, (*selected.SCALES, "layer")),
        *(replace(each, default=begin.get(each.name, each.default)) for each in selected.FORMS),
        *selected.OVERLAY,
        link.retired("cut"),
    )


def _begin(chosen: "Telling | None") -> dict[str, Any]:
    """The selection of a head to begin with."""
    if chosen is None:
        return dict.fromkeys(("layer", "attention", "head", "token"))
    site = chosen.site
    return {
        "layer": site.layer,
        "attention": site.kind,
        "tower": site.tower or "",
        "head": chosen.head,
        "token": chosen.query,
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
    recordings.take()
    edits.take()
    writing.take()
    words.settle(PAGE)
    chooser.settle(examples.follow)
    wanted, above = source.chosen(), attention.controls(PAGE)
    reads = inputs.known(source.listed())
    if reads is not None and reads.image:
        examples.settle()
    soon = _comes_soon(wanted, reads)
    drawn = trace = opened = None
    if not soon:
        with above:
            drawn = _controls(reads, problems)
    with (
        attention.stage(PAGE, _kind(reads), _now(_kind(reads)), PATHS) as stage,
        opening.early(stage, wanted, drawn.entries if drawn else None),
    ):
        opened = _opened(wanted, quietly=stage.drawn)
        if opened is None:
            stage.stale()
        else:
            trace = _show(stage, wanted, opened, drawn)
    if soon:  # the browser has nearly all of the controls, and waits for the picture
        stage.let_paint()
        with above:
            drawn = _controls(reads, problems)
    if trace is not None and drawn is not None and drawn.entries is not None:
        if soon:
            beside.choose(trace, stage.kind, drawn.entries.beside)
        card.about(drawn.entries.about, trace.model, _measured_difference(trace))
    if opened is not None:
        with stage.below:
            card.show(opened, tracing.opened(opened))
        behind.prepare()
    fetching.follow(wanted.name)


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


def _now(kind: attention.Kind, chosen: "Telling | None" = None) -> tuple[link.Param, ...]:
    """The parameters, with the defaults of the present settings."""
    return params(source.listed(), session.current(PAGE).settings, kind, chosen)


def _kind(reads: Reads | None) -> attention.Kind:
    """The kind of view that is likely, before the trace tells."""
    return "image" if reads is not None and reads.image and not reads.text else "text"


def _comes_soon(wanted: Source, reads: Reads | None) -> bool:
    """Whether the picture comes soon, and may come before the controls."""
    if reads is None or not reads.text or len(session.get(PAGE, "input")) > SHORT:
        return False
    if beside.wanted():
        return False
    return attention.shows(PAGE, wanted.layout)


def _controls(reads: Reads | None, problems: Iterable[str]) -> Controls:
    """Draws what is above the view.

    Args:
        reads: what the model reads; None if that is not known before it is open.
        problems: of the link.
    """
    welcome.draw(params_of)
    key = f"{PAGE}_heading"
    with st.container(key=key, horizontal=True, vertical_alignment="center"):
        st.markdown("#### What does every head look at?", width="content")
        if reads is None or not (reads.text and examples.buttons()):
            st.space("stretch")
        chooser.button()
    chooser.lists()
    for problem in problems:
        shared.error_line(problem)
    sizes.controls()
    given = st.container(key=f"{PAGE}_given", gap="small")  # which an embed link leaves out
    with given:
        entries = None if reads is None else inputs.draw(reads)
    return Controls(entries, given)


def _opened(wanted: Source, *, quietly: bool) -> Source | None:
    """The model that is shown: the chosen one, or the last that opened; None for none."""
    return chooser.first_that_opens(wanted, quietly=quietly) if cost.allowed(wanted) else None


def _show(
    stage: attention.Stage, wanted: Source, opened: Source, controls: Controls | None
) -> TraceRequest | None:
    """Traces the input, and shows the view.

    Args:
        stage: of the view.
        wanted: the chosen model.
        opened: the model that is open.
        controls: that were drawn; None if they come after the view.

    Returns:
        What is shown; None if that is the last picture, or none.
    """
    model = tracing.opened(opened)
    entries = _read_from(opened, wanted, model, controls)
    plain, notes = inputs.request(opened, model, entries)
    if notes:
        shared.notice(" ".join(notes))
    if plain is None:
        shared.notice("Type a sentence, or choose an example.")
        stage.stale()
        return None
    edited = edits.request(plain)
    edits.strip(edited, _now(stage.kind), params_of)
    names = inputs.special_names(entries.reads, None if source.listed() else model)
    between = words.chosen(PAGE, names)
    beside_it = writing.props(edited, model) | others.props(edited) | edits.other(plain, between)
    beside_it |= {"predicted": examples.predicted(edited, between)}
    stage.props = edits.props(edited) | beside_it
    request = edits.request_in_view(edited)
    expect = wanted.layout if controls is None and request == edited else None
    try:
        after = _pass(stage, edited, between, expect)
    except ValueError as error:
        if not edited.edits:
            raise
        shared.error_line(error)
        request = edited = plain
        stage.props = edits.props(plain) | beside_it
        after = _pass(stage, plain, between, None)
    if after is None:
        return None
    before = shared.entry_for(plain, between)
    held = after if request == edited else before
    stage.kind = held.value.kind
    begins = examples.begin(source.listed(), session.current(PAGE).settings)
    chosen = None if begins is not None else tracing.telling(before)
    stage.params = _now(stage.kind, chosen)
    stage.props = {**stage.props, "hinted": chosen is not None}
    if chosen is not None:
        (entries.hint or st).caption(shared.plain(answers.reason(chosen, before.value.trace)))
    card.about(entries.about, opened, _known_difference(plain))
    _answer(stage, request, model, held, wanted, entries)
    with stage.below:
        _below(stage.kind, request, held)
    return plain


def _pass(
    stage: attention.Stage, request: TraceRequest, between: tracing.Between, expect: Any
) -> "Held[TraceEntry] | None":
    """The result of a request, which the browser asks for meanwhile; None if it was stopped.

    Args:
        stage: of the view.
        request: of the trace.
        between: what its weights are between.
        expect: the network, if the view comes before the controls; else None.
    """
    run = running.Pass(PAGE, tracing.id_of(request), lambda: tracing.cost(request))
    if run.stopped:
        run.offer()
        stage.stale()
        return None
    with tracing.expecting(request, between) as expected:
        if expect is not None:
            stage.expect(expected, expect)
        with run.progress() as progress:
            tracing.traced(request, progress, shared.waiting(progress))
        return tracing.entry_for(request, between)


def _read_from(
    opened: Source, wanted: Source, model: "Model", controls: Controls | None
) -> inputs.Entries:
    """The entries that the request is read from; those of an opened model are drawn now."""
    if controls is None:
        return inputs.Entries(inputs.known(source.listed()) or compute.reads(model))
    if controls.entries is not None and opened.name == wanted.name:
        return controls.entries
    with controls.given:
        controls.entries = inputs.draw(compute.reads(model), model)
    return controls.entries


def _answer(
    stage: attention.Stage,
    request: TraceRequest,
    model: "Model",
    held: "Held[TraceEntry]",
    wanted: Source,
    entries: inputs.Entries,
) -> None:
    """What the model answers, and the view.

    Args:
        stage: of the view.
        request: of what it shows.
        model: of the request, open.
        held: what it shows.
        wanted: the chosen model.
        entries: that the request was read from.
    """
    trace, name = held.value.trace, request.model.catalogue
    done = dict.fromkeys((*tracing.notes_of(request), *trace.notes))
    if answers.is_written(model, trace):
        done.pop(answers.GREEDY, None)  # the line of what was written says so
    if done:
        assumed = preprocessing.assumed(model)
        texts = {note: shared.plain(note) for note in done}
        marked = (f":orange-background[{texts[n]}]" if n in assumed else texts[n] for n in done)
        st.caption("; ".join(marked))
    if entries.beside is not None:
        beside.choose(request, stage.kind, entries.beside)
    second = beside.of(request, stage.kind)
    if stage.kind == "image":
        example = examples.current_example()
        answers.of_picture(name, trace, example, second.titles[0] if second else "")
        if second is not None:
            other = second.held.value.trace
            answers.of_picture(
                second.request.model.catalogue, other, second.example, second.titles[1]
            )
    elif not isinstance(request.input, Several):
        answers.of_text(name, model, trace, given=request.target is not None)
    predicts = held.value.predict is not no_predictions
    stage.show(
        held,
        of=wanted.layout,
        panels=["predictions", "code"] if predicts else ["code"],
        more=edits.with_source(second.props) if second else None,
    )


def _below(kind: attention.Kind, request: TraceRequest, held: "Held[TraceEntry]") -> None:
    """What stands below the view: whether it is right, and what else is known of the picture."""
    if request.edits:
        st.caption(UNEDITED)
    elif not isinstance(request.input, Several):
        verification.button(PAGE, held.id, lambda: tracing.arguments(request))
    if request.picture is not None and kind == "image":
        figures.show(request)


def _measured_difference(request: TraceRequest) -> float | None:
    """`verification.largest_difference`, measured once on a first input of a model.

    None for networks of random weights, large models and long inputs, where it would take long.
    """
    if isinstance(request.input, Several):
        return None
    known, model = _differences(), tracing.opened(request.model)
    if request.model not in known and model.trained:
        if sum(weights.numel() for weights in model.network.parameters()) > MOST_PARAMETERS:
            return None
        trace = tracing.traced(request).value
        if max((site.queries for site in trace.sites), default=0) > MOST_TOKENS:
            return None
        known[request.model] = verification.largest_difference(*tracing.arguments(request))
    return known.get(request.model)


def _known_difference(request: TraceRequest) -> float | None:
    """The same if it was measured already."""
    return _differences().get(request.model)


@st.cache_resource(max_entries=1, show_spinner=False)
def _differences() -> dict[Source, float | None]:
    return {}
