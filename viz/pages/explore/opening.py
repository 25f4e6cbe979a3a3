"""The first picture of the examples that come with the app, before PyTorch is there."""

from collections.abc import Iterator
from contextlib import contextmanager

from models.request import Source, TraceRequest, built
from viz.api import baked, tracing
from viz.api.endpoint import path_of
from viz.api.registry import Expected, registry
from viz.pages import shared
from viz.pages.explore import edits, examples, inputs, sizes, words
from viz.pages.explore.names import PAGE
from viz.pages.state import session
from viz.pages.widgets import attention

MODELS = ("minilm", sizes.ENCODER)  # with baked answers
LOADING = "Loading PyTorch: changes follow in a moment"
FIRST = 2  # requests after which the picture is whole
SECONDS = 3.0  # that the browser has to make them before PyTorch is imported, which slows all else


def of_text(model: str) -> TraceRequest:
    """What a model of the list opens with."""
    text, target, _ = examples.first(model)
    if model == sizes.ENCODER:
        begin = sizes.begin(model)
        source = built(sizes.KINDS[model], sizes.of(model, begin))
    else:
        source = tracing.of_catalogue(model)
    return TraceRequest(source, text, target or None)


def paths(model: str) -> list[str]:
    """What the view asks for when it opens."""
    begin = examples.begin(model, {}) or {}
    site = begin["layer"]  # of models whose layers have one site each
    row = path_of("row", site=site, head=begin["head"], axis="query", index=begin["token"])
    return ["overview", row, path_of("provenance", site=site), "refused", "numbers"]


@contextmanager
def early(stage: attention.Stage, wanted: Source, place: inputs.Entries | None) -> Iterator[None]:
    """Shows a picture with baked answers, if there are any, while its result is computed inside.

    Args:
        stage: of the view.
        wanted: the chosen model.
        place: the entries; the line about the model says that PyTorch is being loaded.
    """
    request = _request(wanted)
    between = words.chosen(PAGE, words.of_catalogue(request.model.catalogue)) if request else None
    answers = baked.answers(request, between) if request and between else {}
    if request is None or between is None or not answers:
        yield
        return
    with tracing.expecting(request, between) as expected:
        if isinstance(expected, Expected):
            registry.foresee(expected.id, answers)
            stage.props = edits.props(request)
            stage.expect(expected, wanted.layout)
            if shared.cold():
                if place is not None and place.about is not None:
                    place.about.html(f'<div class="about-loading" role="status">{LOADING}</div>')
                stage.let_paint(FIRST, SECONDS)
        yield


def _request(wanted: Source) -> TraceRequest | None:
    """The request of the page, if it is what its model opens with."""
    settings = session.current(PAGE).settings
    model = wanted.catalogue or (settings["model"] if wanted.place == "built" else "")
    changed = any(settings[name] for name in ("pair", "edits", "compare", edits.SECOND))
    if model not in MODELS or changed:
        return None
    text, target, _ = examples.first(model)
    if (settings["input"], settings["target"]) != (text, target):
        return None
    try:
        source = wanted if wanted.place == "built" else tracing.stamped(wanted)
    except ValueError:  # its files are missing: opening it says so
        return None
    return TraceRequest(source, text, target or None)
