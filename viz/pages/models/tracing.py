"""The Models page's trace: one pass of an open model over one input, held for the browser."""

from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.api import registry
from viz.api.entries import Patches, Predict, TraceEntry, no_predictions
from viz.api.registry import Held
from viz.pages import shared
from viz.pages.models.inputs import Input
from viz.pages.models.source import Open, Source
from viz.pages.picture import encoded
from viz.pages.text import predictions, words
from viz.pages.widgets import cards, running, snippet, verification

if TYPE_CHECKING:
    from PIL.Image import Image

    from analysis.view import View
    from models.model import Model
    from models.progress import Progress
    from models.trace import Trace

PICTURE = "Path('picture.png')"  # stands for the picture in Python code
CHECKED = 1024  # tokens from which on memory is checked before a pass


MOST_PARAMETERS, MOST_TOKENS = 50_000_000, 256  # of models and inputs that are verified at once


def traced(found: Open, request: Input, progress: "Progress | None" = None) -> "Held[Trace]":
    """One forward pass over one input, which reports its progress (see `models.progress`)."""
    return registry.once(
        _key(found, request),
        lambda: _run(found, request, progress),
        meanwhile=shared.waiting(progress),
    )


def pass_of(page: str, found: Open, request: Input) -> running.Pass:
    """The forward pass of `traced`, for its progress on a page."""

    def opened() -> "tuple[Model, int]":
        return found.model, length_of(found.model, request.arguments[0])

    return running.of_text(page, registry.id_of(_key(found, request)), opened)


def shown(found: Open, request: Input, by: words.By, special: words.Special) -> "Held[TraceEntry]":
    """The registry entry: a picture with its patches, or a text by tokens or words."""
    trace = traced(found, request)
    return pictured(found, request) or registry.once(
        ("checkpoint view", *_key(found, request), by, special),
        lambda: _text(found, request, trace.value, by, special),
        parent=trace,
    )


def pictured(found: Open, request: Input) -> "Held[TraceEntry] | None":
    """The registry entry of a picture with its patches; None for a model that has none to show."""
    trace = traced(found, request)
    source = "seen.image" if request.changes else PICTURE
    cut = request.image and patches_of(found.model, trace.value, request.image, source)
    if cut is None:
        return None
    return registry.once(
        ("checkpoint view", *_key(found, request), "image"),
        lambda: _image(found, request, trace.value, cut),
        parent=trace,
    )


def verified(found: Open, request: Input) -> float | None:
    """`verification.largest_difference`, measured once on a first input of a model.

    None for large models and long inputs, where it would take long.
    """
    known: dict[tuple[Source, str], float | None] = _verified()
    key = found.source, found.stamp
    if key not in known:
        model = found.model
        if sum(weights.numel() for weights in model.network.parameters()) > MOST_PARAMETERS:
            return None
        trace = traced(found, request).value
        if max((site.queries for site in trace.sites), default=0) > MOST_TOKENS:
            return None
        known[key] = verification.largest_difference(model, *request.arguments)
    return known[key]


@st.cache_resource(max_entries=1, show_spinner=False)
def _verified() -> dict[tuple[Source, str], float | None]:
    return {}


def panels(held: "Held[TraceEntry]") -> list[str]:
    """The panels below the view."""
    predicts = held.value.predict is not no_predictions
    return ["predictions", "code"] if predicts else ["code"]


def patches_of(
    model: "Model", trace: "Trace", image: "Image", source: str = PICTURE
) -> Patches | None:
    """The square patches of a picture, each of whose layers attends over all of them; else None.

    Layers may have grids of their own: larger patches, as in networks of several stages.

    Args:
        model: that read it.
        trace: of the pass.
        image: the preprocessed picture.
        source: the picture in Python code.
    """
    from analysis.patches import grid_of
    from models.loading.summary import parts

    if trace.grid is None or len({site.tower for site in trace.sites}) > 1:
        return None
    try:
        (rows, cols), *_ = [grid_of(trace, site)[0] for site in trace.sites]
    except ValueError:
        return None
    side = image.size[1] // rows
    if (cols * side, rows * side) != image.size:
        return None
    order = getattr(model.network.config, "order", "c p1 p2")
    return Patches(encoded(image), side, parts(model)[0].dim or 0, order, source)


def code(
    source: Source,
    request: Input,
    trace: "Trace",
    site: int,
    head: int | str,
    view: "View | None" = None,
) -> str:
    """Python code that opens the model, traces the input, and reads the weights of a head."""
    options = [] if source.dtype == "float32" else [f"dtype=torch.{source.dtype}"]
    options += [] if source.device == "cpu" else [f"device={source.device!r}"]
    options += [] if source.door == "auto" else [f"door={source.door!r}"]
    written = request.written or request.arguments
    arguments = [_literal(part) for part in written if part is not None]
    prepared: list[str] = []
    if request.changes:
        changes = ", ".join(f"{name}={value!r}" for name, value in request.changes.items())
        prepared = [
            f"preprocessing = changed(model.preprocessing, {changes})",
            f"seen = processed(preprocessing, {PICTURE})",
        ]
        arguments = [part.replace(PICTURE, "seen.pixels") for part in arguments]
    imports = ["from models.run import load, trace"]
    if view is not None and snippet.needs_view(view, site):
        imports.insert(0, "from analysis.view import View")
    if prepared:
        imports.insert(0, "from models.inputs.pictures import processed")
        imports.insert(1, "from models.preprocessing import changed")
    if "Path(" in "".join([*prepared, *arguments]):
        imports = ["from pathlib import Path", "", *imports]
    if "torch." in "".join([*options, *arguments]):
        imports = ["import torch", "", *imports]
    lines = [
        f"model = load({', '.join([repr(source.name), *options])})",
        *prepared,
        f"t = trace(model, {', '.join(arguments)})",
    ]
    if view is not None and snippet.needs_view(view, site):
        lines.append(snippet.view_line(view))
    weights = snippet.weights_of(trace if view is None else view, site, head)
    return "\n".join([*imports, "", *lines, f"{weights}  # query × key"])


def _key(found: Open, request: Input) -> tuple[Any, ...]:
    return ("checkpoint", found.source, found.stamp, request.key)


def _run(found: Open, request: Input, progress: "Progress | None") -> "Trace":
    from models.loading.estimate import check_memory, kept_logits
    from models.progress import no_progress
    from models.run import trace

    tokens = length_of(found.model, request.arguments[0])
    if tokens > CHECKED:
        check_memory(found.model, tokens)
    with shared.forward_pass(found.model, long=tokens > CHECKED, progress=progress):
        return trace(
            found.model,
            *request.arguments,
            logits_to_keep=kept_logits(found.model, tokens),
            progress=progress or no_progress,
        )


def length_of(model: "Model", input: Any) -> int:
    """Tokens of a text or of ids; 0 for other inputs."""
    if hasattr(input, "shape"):
        return int(input.shape[-1]) if not input.is_floating_point() else 0
    if model.tokenizer is None or not isinstance(input, str | tuple):
        return 0
    return len(model.tokenizer.encode(*([input] if isinstance(input, str) else input)))


def _image(found: Open, request: Input, trace: "Trace", cut: Patches) -> TraceEntry:
    def weights(site: int, head: int | str) -> str:
        return code(found.source, request, trace, site, head)

    return TraceEntry(trace, weights, _classes(found, trace), patches=cut)


def _classes(found: Open, trace: "Trace") -> Predict:
    """The answer of a classifier, which is the same wherever one looks."""
    card = cards.card(found.source.name) if found.source.place == "catalogue" else None
    if card is not None and len(card.questions) > 1:
        return no_predictions  # one row of logits for several questions: the Image page's answer
    names = found.model.classes if card is None or not card.questions else card.questions[0].classes
    answer = predictions.classes(found.model, trace, names)
    return (lambda site, direction, token: answer) if answer else no_predictions


def _text(
    found: Open, request: Input, trace: "Trace", by: words.By, special: words.Special
) -> TraceEntry:
    view = words.view_of(trace, by, special)
    drawn = trace if view is None else view

    def weights(site: int, head: int | str) -> str:
        return code(found.source, request, trace, site, head, view)

    known = predictions.vocabulary_of(found.model, trace)

    def predict(site: int, direction: str, token: int | None) -> dict[str, Any]:
        if view is not None and token is not None:
            token = view.token(trace.sites[site], direction, token)
        return predictions.at(known, trace, site, direction, token)

    def opened() -> tuple["Model", Any, Any]:
        given, *written = request.arguments
        return found.model, given, written[0] if written else None

    run = partial(shared.forward_pass, found.model)
    said = predict if known else _classes(found, trace)
    return TraceEntry(drawn, weights, said, forward_pass=run, opened=opened)


def _literal(value: Any) -> str:
    """A part of the input as a Python literal; pictures as a placeholder."""
    if isinstance(value, str | tuple):
        return repr(value)
    if isinstance(value, dict):
        parts = (f"{name!r}: {_literal(part)}" for name, part in value.items())
        return f"{{{', '.join(parts)}}}"
    if hasattr(value, "tolist") and not value.is_floating_point():
        return f"torch.tensor({value.tolist()})"
    return PICTURE
