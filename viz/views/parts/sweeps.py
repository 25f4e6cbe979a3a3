"""What an output needs: every head switched off in turn, or states patched in one at a time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from viz.api.beside import second_of
from viz.api.endpoint import QuestionError, endpoint
from viz.api.entries import TraceEntry
from viz.api.pool import report
from viz.api.rerun import logit_of, name_in, opened, reread, unedited
from viz.api.text import own_site
from viz.values import words

if TYPE_CHECKING:
    from torch import Tensor

    from analysis.effects import Measure
    from analysis.sweep import Checked
    from models.attention import Edit
    from models.trace import Site

Effects = list[list[float | None]]
MOST = 64  # heads or states that get passes of their own
WINDOW = 48  # tokens: a table of more cannot be read


@dataclass(frozen=True)
class Swept:
    """What a change does to a number of the output.

    Attributes:
        number: "logit" of an output; or without logits the "distance" by which the embedding
            moves, or the "share" of the way to that of another picture.
        name: whose.
        position: of the output; None for all.
        attribution: the change by attribution; "layer head" or "layer token".
        exact: the same by passes of their own, where these were made.
        sites: of heads, the layers.
        labels: of states, the tokens.
        second: the tokens of the text that they come from.
    """

    number: Literal["logit", "distance", "share"]
    name: str
    position: int | None
    attribution: Effects
    exact: Effects | None
    sites: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    second: tuple[str, ...] = ()


@endpoint("matters", slow=True, off=words("zero", "mean"))
def matters(
    entry: TraceEntry, site: int, output: str = "", off: str = "zero", top: int = 0
) -> Swept:
    """What switching off each head of a kind does; the `top` by attribution exactly.

    How far an embedding moves has no slope to attribute by: that is exact for every head.
    """
    from analysis.sweep import checked_sweep, sites_of, sweep

    entry, here = _at(entry, site, top)
    how, about = _switched_off(entry, here, output, off)
    sites = sites_of(entry.trace, here.kind, here.tower)
    every = about["number"] == "distance"

    def compute() -> "tuple[Tensor, Tensor | None]":
        with opened(entry) as given:
            if every:
                result = sweep(*given, **how)
                return result, result
            if not top:
                return sweep(*given, how="attribution", **how), None
            result = checked_sweep(*given, top=top, **how)
            return result.attribution, result.exact

    key = ("matters", here.kind, here.tower, output, off, 0 if every else top)
    rough, exact = entry.answers.once(key, compute)
    known = None if exact is None else _rows(exact, sites)
    places = tuple(map(entry.trace.sites.index, sites))
    return Swept(**about, attribution=_rows(rough, sites), exact=known, sites=places)


@endpoint("patched", "text", slow=True)
def patched(entry: TraceEntry, second: str, output: str = "", top: int = 0) -> Swept:
    """What the states that a second text gives do to the logit of an output, one at a time."""
    entry, _ = _at(entry, 0, top)
    tokens = entry.trace.tokens[0]
    if entry.trace.target_tokens is not None or len(tokens) > WINDOW:
        raise ValueError(f"states are patched in texts of at most {WINDOW} tokens, in one stack")
    measure, about = _logit(entry, output)

    key = ("patched", second, output)
    effects, labels = _swept(entry, key, lambda: reread(entry, second), measure, top)
    return Swept(**about, **effects, labels=tokens.labels, second=labels)


@endpoint("states", "image", slow=True)
def states(entry: TraceEntry, second: str, output: str = "", top: int = 0) -> Swept:
    """What the states that a second picture gives do, one at a time.

    Without classes the number is how far the state of the class token, or the mean of all, moves
    to that of the second picture: 0 at its own, 1 there.
    """
    from analysis.effects import Towards
    from analysis.target import kind_of

    (entry, _), other = _at(entry, 0, top), unedited(second_of(second, "image"))
    if kind_of(entry.trace.output) == "similarity":
        token = 0 if entry.trace.prefix else None
        measure: Measure = Towards(entry.trace, other.trace, token)
        name = "class token" if token == 0 else "patches"
        about = {"number": "share", "name": name, "position": None}
    else:
        measure, about = _logit(entry, output)

    def pixels() -> Any:
        network, given, _ = other.model_and_input()
        if network is not entry.model_and_input()[0] or other.trace.grid != entry.trace.grid:
            raise ValueError("states are patched from a picture through the same network")
        return given

    effects, _ = _swept(entry, ("states", second, output), pixels, measure, top)
    return Swept(**about, **effects)


def _at(entry: TraceEntry, site: int, top: int = 0) -> "tuple[TraceEntry, Site]":
    """The result without edits, and a site of it."""
    if top > MOST:
        raise QuestionError(f"expected top 0 to {MOST}")
    entry = unedited(entry)
    return entry, own_site(entry, site)


def _switched_off(entry: TraceEntry, here: "Site", output: str, off: str) -> Any:
    """The arguments of `analysis.sweep.sweep`, and what its number is."""
    from analysis.effects import EmbeddingDistance
    from analysis.target import kind_of
    from models.edits import Ablate

    trace, place = entry.trace, {"kind": here.kind, "tower": here.tower}
    if kind_of(trace.output) == "similarity" and not output:
        token = 0 if entry.kind == "image" and trace.prefix else None
        measure: Measure = EmbeddingDistance(trace, token)
        name = "class token" if token == 0 else "tokens"
        about = {"number": "distance", "name": name, "position": None}
    else:
        measure, about = _logit(entry, output)

    def edit(layer: int, head: int) -> "Edit":
        return Ablate(layer, head, how=off, **place)  # pyright: ignore[reportArgumentType]

    return {"edit": edit, "measure": measure, "progress": report, **place}, about


def _logit(entry: TraceEntry, output: str) -> "tuple[Measure, Any]":
    from analysis.effects import Logit

    target, id = logit_of(entry, output)
    measure = Logit(id, -1 if target.position is None else target.position)
    about = {"number": "logit", "name": name_in(entry, id), "position": target.position}
    return measure, about


def _swept(
    entry: TraceEntry, key: tuple[str, ...], read: Any, measure: "Measure", top: int
) -> tuple[Any, tuple[str, ...]]:
    """The sweep over the states of another input, which is read, and its labels."""
    from analysis.sweep import state_sweep
    from models.run import trace

    def compute() -> "tuple[Checked, tuple[str, ...]]":
        with opened(entry) as (model, given, _):
            other = trace(model, read(), hidden=True)
            result = state_sweep(model, given, other, measure=measure, top=top, progress=report)
            return result, tuple(other.labels)

    result, labels = entry.answers.once((*key, top), compute)
    exact = _rows(result.exact) if top else None
    return {"attribution": _rows(result.attribution), "exact": exact}, labels


def _rows(effects: "Tensor", sites: "tuple[Site, ...] | None" = None) -> Effects:
    """Numbers by layer and head or token; None for those that are not known."""
    counts = [len(row) for row in effects] if sites is None else [site.heads for site in sites]
    rows = zip(effects.tolist(), counts, strict=True)
    return [[None if each != each else each for each in row[:count]] for row, count in rows]
