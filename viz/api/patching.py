"""Responses about states patched in from another text or picture, by layer and token."""

from math import isnan
from typing import TYPE_CHECKING

from viz.api.beside import second_of
from viz.api.entries import TraceEntry
from viz.api.matter import unedited
from viz.api.model import Answer, opened, or_why
from viz.api.pool import report
from viz.api.requests import QuestionError
from viz.api.why import chosen_in, name_in

if TYPE_CHECKING:
    from torch import Tensor

    from analysis.sweep import Checked

MOST = 64  # states that are patched in passes of their own
WINDOW = 48  # tokens: a table of more cannot be read


@or_why
def patched(entry: TraceEntry, id: str, second: str, output: str = "", top: int = 0) -> Answer:
    """What the state that a second text gives does to the logit of an output, one at a time.

    Args:
        entry: the trace of a text; states are patched into the pass without its edits.
        id: of the trace.
        second: another text with the same number of tokens, read as the first is: in the chat
            template where that is.
        output: whose logit, as a text (see `analysis.target`); "" is the likeliest.
        top: how many states are patched in passes of their own.

    Returns:
        The tokens of both texts. For each layer, whose entering states are patched, and each token
        the change of the logit by attribution and, with `top`, exactly; null elsewhere.
    """
    from analysis.effects import Logit
    from analysis.states import state_sweep
    from models import run

    if top > MOST:
        raise QuestionError(f"expected top 0 to {MOST}")
    entry = unedited(entry)
    trace = entry.trace
    if trace.target_tokens is not None or len(trace.tokens[0]) > WINDOW:
        raise ValueError(f"states are patched in texts of at most {WINDOW} tokens, in one stack")
    chosen = chosen_in(entry, output)
    if chosen.id is None:
        raise ValueError("expected an output with a logit, received a similarity")
    measure = Logit(chosen.id, -1 if chosen.position is None else chosen.position)

    def compute() -> "tuple[Checked, list[str]]":
        with opened(entry) as (model, given, _):
            if entry.reread is None:
                raise ValueError(f"{trace.model} has no tokenizer: it cannot read a second text")
            other = run.trace(model, entry.reread(second), hidden=True)
            result = state_sweep(model, given, other, measure=measure, top=top, progress=report)
            return result, list(other.labels)

    result, labels = entry.answers.once(("patched", second, output, top), compute)
    return {
        "name": name_in(entry, chosen.id),
        "position": chosen.position,
        "labels": list(trace.tokens[0].labels),
        "second": labels,
        "attribution": _rows(result.attribution),
        "exact": _rows(result.exact) if top else None,
    }


@or_why
def states(entry: TraceEntry, id: str, second: str, output: str = "", top: int = 0) -> Answer:
    """What the state that a second picture gives does to the output, one at a time.

    Args:
        entry: the trace of a picture; states are patched into the pass without its edits.
        id: of the trace.
        second: id of the trace of another picture through the same network.
        output: of which class the logit is read, as a text; "" is the likeliest. Without classes
            the number is how far the state of the class token, or the mean of all, moves to that
            of the second picture: 0 at its own, 1 there.
        top: how many states are patched in passes of their own.

    Returns:
        For each layer, whose entering states are patched, and each token the change of the number
        by attribution and, with `top`, exactly; null elsewhere.
    """
    from analysis.effects import Logit, Towards
    from analysis.states import state_sweep
    from analysis.target import kind_of
    from models import run

    if top > MOST:
        raise QuestionError(f"expected top 0 to {MOST}")
    entry, other = unedited(entry), unedited(second_of(second, "image"))
    if kind_of(entry.trace.output) == "similarity":
        token = 0 if entry.trace.prefix else None
        measure = Towards(entry.trace, other.trace, token)
        about = {"number": "share", "name": "class token" if token == 0 else "patches"}
    else:
        chosen = chosen_in(entry, output)
        if chosen.id is None:
            raise ValueError("expected an output with a logit, received a similarity")
        measure = Logit(chosen.id)
        about = {"number": "logit", "name": name_in(entry, chosen.id)}

    def compute() -> "Checked":
        if entry.opened is None or other.opened is None:
            raise ValueError("this view holds its weights only: the model is not there")
        network, pixels, _ = other.opened()
        with opened(entry) as (model, given, _):
            if network is not model or other.trace.grid != entry.trace.grid:
                raise ValueError("states are patched from a picture through the same network")
            source = run.trace(model, pixels, hidden=True)
            return state_sweep(model, given, source, measure=measure, top=top, progress=report)

    result = entry.answers.once(("states", second, output, top), compute)
    exact = _rows(result.exact) if top else None
    return {**about, "attribution": _rows(result.attribution), "exact": exact}


def _rows(effects: "Tensor") -> list[list[float | None]]:
    return [
        [float(f"{value:.5g}") if not isnan(value) else None for value in row]
        for row in effects.tolist()
    ]
