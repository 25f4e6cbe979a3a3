"""The Text page's trace: one forward pass, held for the browser."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from viz.api import registry
from viz.api.entries import TraceEntry
from viz.api.registry import Expected, Held
from viz.pages import shared
from viz.pages.shared import Choice
from viz.pages.text import predictions, words
from viz.pages.widgets import running, snippet

if TYPE_CHECKING:
    from models.model import Model
    from models.progress import Progress
    from models.trace import Trace


@dataclass(frozen=True)
class Input:
    """Everything a trace depends on.

    Attributes:
        choice: the model.
        device: on which it runs.
        text: the input.
        target: the target of an encoder–decoder; "" generates it.
        pair: the second text of a pair; "" for a single text.
    """

    choice: Choice
    device: str
    text: str
    target: str = ""
    pair: str = ""

    @property
    def source(self) -> str | tuple[str, str]:
        """The input as `trace` takes it."""
        return (self.text, self.pair) if self.pair else self.text


def traced(request: Input, progress: "Progress | None" = None) -> "Held[Trace]":
    """The trace of one forward pass, which reports its progress (see `models.progress`)."""
    key = "trace", request
    return registry.once(key, lambda: _run(request, progress), meanwhile=shared.waiting(progress))


def pass_of(page: str, request: Input) -> running.Pass:
    """The forward pass of `traced`, for its progress on a page."""

    def opened() -> "tuple[Model, int]":
        model = shared.opened(request.choice, request.device)
        parts = (request.text, request.pair) if request.pair else (request.text,)
        return model, len(shared.tokenizer(request.choice, request.device).encode(*parts))

    return running.of_text(page, registry.id_of(("trace", request)), opened)


def expecting(
    request: Input, by: words.By, special: words.Special
) -> "AbstractContextManager[Held | Expected]":
    """The registry entry that `shown` returns, which can be requested while it is computed."""
    return registry.expecting(_key(request, by, special))


def shown(request: Input, by: words.By, special: words.Special) -> Held[TraceEntry]:
    """The registry entry of the trace, by tokens, whole words or whole sentences."""
    trace = traced(request)
    return registry.once(
        _key(request, by, special),
        lambda: _entry(request, trace, by, special),
        trace,
    )


def _key(request: Input, by: words.By, special: words.Special) -> tuple[str, Input, str, str]:
    return "text", request, by, special


def _run(request: Input, progress: "Progress | None") -> "Trace":
    from models.progress import no_progress
    from models.run import trace

    model = shared.opened(request.choice, request.device)
    with shared.forward_pass(model, progress=progress):
        return trace(
            model, request.source, request.target or None, progress=progress or no_progress
        )


def _entry(request: Input, held: "Held[Trace]", by: words.By, special: words.Special) -> TraceEntry:
    trace = held.value
    view = words.view_of(trace, by, special)
    drawn = trace if view is None else view

    def code(site: int, head: int | str) -> str:
        return snippet.code(request.choice, request.source, request.target, trace, site, head, view)

    known = predictions.vocabulary_of(shared.opened(request.choice, request.device), trace)

    def predict(site: int, direction: str, token: int | None) -> dict[str, Any]:
        if view is not None and token is not None:
            token = view.token(trace.sites[site], direction, token)
        return predictions.at(known, trace, site, direction, token)

    def opened() -> tuple["Model", Any, Any]:
        model = shared.opened(request.choice, request.device)
        return model, request.source, request.target or None

    run = partial(shared.forward_pass, shared.opened(request.choice, request.device))
    return TraceEntry(drawn, code, predict, run, opened=opened)
