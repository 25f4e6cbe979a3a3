"""Sweeps: one edit of every head, or of every state, and what each does to a number of the output.

    exact         measure(pass with the edit) − measure(pass without)
    attribution   Σ ∇measure · (values of the head with the edit − without)
                  ∇h measure · (h′ − h), of the states h, h′ of two inputs at a layer and token

An exact sweep makes a pass for each edit; an attribution takes one pass and its gradient. The
values of a head, its softmax included, are computed anew under its edit, so only what follows the
head, or the state, is linearised.

Source: Kramár et al. 2024, "AtP*: An efficient and scalable method for localizing LLM behaviour to
components", section 3.1, for the softmax; Nanda 2023, "Attribution patching"; Meng et al. 2022,
"Locating and Editing Factual Associations in GPT", section 2, for states.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.effects import Divergence, EmbeddingDistance, Logit, Loss, Measure
from analysis.many import Mean
from models.attention import Edit, Pattern, attend
from models.edits import Ablate, Cut, Patch, SetWeights, Temperature
from models.edits.routing import ATTENTION, acts_on, at, check
from models.progress import Progress, bar, no_progress, stretched
from models.progress import each as each_of
from models.run import Model, as_model, trace
from models.shown import one_line
from models.trace import Site, Trace

OWN_HEAD = (Ablate, Cut, SetWeights, Temperature)  # read and change no head but their own
EditOf = Callable[[int, int], Edit]
Number = Callable[[Trace], float | Tensor]
Run = Callable[..., Trace]
HOW = ("exact", "attribution")
Numbers = TypeVar("Numbers", Tensor, Mean)
BATCH = 32  # inputs that run together


def sweep(
    model: Model | Any,
    input: Any,
    target: Any = None,
    *,
    edit: EditOf,
    measure: Number | Sequence[Number],
    how: Literal["exact", "attribution"] = "exact",
    kind: str | None = None,
    tower: str | None = None,
    layer: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """The change of a number of the output by an edit of each head.

    Args:
        model: from `load`, or a network.
        input: as for `trace`; or a list of inputs, whose changes are averaged.
        target: as for `trace`; with a list of inputs a list of targets.
        edit: makes the edit of a layer and head, as `lambda layer, head: Ablate(layer, head)`.
        measure: makes a number of a trace: a `Logit`, `Loss` or `Divergence`, or a function, which
            an attribution does not take; with a list of inputs one for all, or a list with one for
            each. Inputs with `Logit` and `Loss` run in batches.
        how: "exact" makes a pass for each head; "attribution" linearises what follows the heads,
            in one pass and its gradient.
        kind: of the attention layers, where the model has several.
        tower: likewise.
        layer: of an exact sweep, the one whose heads are swept; None for all.
        progress: called with the number of passes made and of all; an exception ends the sweep.

    Returns:
        The number with the edit less that without, in its own unit, "layer head": a row for each
        attention layer, in order; NaN where it has fewer heads than others, and
        in other layers than a chosen one. Of a list of inputs their `Mean`.

    Raises:
        ValueError: for another `how`, layers of several kinds, edits of layers that are not there,
            and for an attribution of what is no edit of attention or has no slope.
    """
    progress = progress or bar("sweep")
    if how not in HOW:
        raise ValueError(f"how: expected one of {', '.join(HOW)}, received {how!r}")
    every = []
    batches = _batches(as_model(model), input, target, measure)
    for done, (run, measures) in enumerate(batches):
        report = stretched(progress, done, len(batches))
        if how == "attribution":
            every.append(_attributed(run, edit, measures, kind, tower, report))
            continue
        clean = run()
        sites = sites_of(clean, kind, tower)
        rows = [row for row, site in enumerate(sites) if layer in (None, site.layer)]
        cells = [(row, head) for row in rows for head in range(sites[row].heads)]
        edits = [edit(sites[row].layer, head) for row, head in cells]
        every.append(_exact(run, clean, _table(sites), cells, edits, measures, report))
    return Mean(torch.cat(every)) if isinstance(input, list) else every[0][0]


def _batches(
    model: Model, input: Any, target: Any, measure: Number | Sequence[Number]
) -> list[tuple[Run, list[Any]]]:
    """Passes, each of one input or several, and the measure of each of their items.

    Raises:
        ValueError: for targets or measures that are not as many as the inputs.
    """
    if not isinstance(input, list):
        return [(partial(trace, model, input, target), [measure])]
    measures: list[Any] = [*measure] if isinstance(measure, Sequence) else [measure] * len(input)
    targets: Any = [None] * len(input) if target is None else target
    for name, given in (("target", targets), ("measure", measures)):
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != len(input):
            raise ValueError(f"{name}: expected one for each of {len(input)} inputs")
    if not input:
        raise ValueError("input: expected at least one, received an empty list")
    text = all(isinstance(each, str | tuple) for each in input)
    together = text and all(isinstance(each, Logit | Loss) for each in measures)
    size = BATCH if together else 1
    batches = []
    for first in range(0, len(input), size):
        some = slice(first, first + size)
        texts, aims = (input[some], targets[some]) if together else (input[first], targets[first])
        run = partial(trace, model, texts, None if target is None else aims)
        of_items = [replace(m, item=i) for i, m in enumerate(measures[some])] if together else None
        batches.append((run, of_items or measures[some]))
    return batches


@dataclass(frozen=True, eq=False)
class Checked(Generic[Numbers]):
    """A sweep by attribution, and exactly where it found most; of a list of inputs the means.

    Attributes:
        attribution: "layer place", of every head, or state.
        exact: of those with the largest attributions; NaN elsewhere.
    """

    attribution: Numbers
    exact: Numbers

    def __repr__(self) -> str:
        return one_line(self)


def checked_sweep(
    model: Model | Any,
    input: Any,
    target: Any = None,
    *,
    edit: EditOf,
    measure: Number,
    top: int = 10,
    kind: str | None = None,
    tower: str | None = None,
    progress: Progress = no_progress,
) -> Checked[Tensor]:
    """A sweep by attribution, then exactly for the `top` heads where it is largest; see `sweep`."""
    run = partial(trace, as_model(model), input, target)
    rough, clean = _attributed(run, edit, [measure], kind, tower, no_progress)[0], run()
    sites, cells = sites_of(clean, kind, tower), _largest(rough, top)
    edits = [edit(sites[row].layer, head) for row, head in cells]
    return Checked(rough, _exact(run, clean, _table(sites), cells, edits, [measure], progress)[0])


def state_sweep(
    model: Model | Any,
    input: Any,
    source: Any,
    *,
    measure: Measure | Sequence[Measure],
    top: int = 0,
    progress: Progress | None = None,
) -> Checked[Any]:
    """The change of a number of the output by each state that another input gives.

    Args:
        model: from `load`, or a network, with one stack of layers.
        input: as for `trace`: one sequence; or a list of them, whose changes are averaged.
        source: the other input, with the same number of tokens, or its trace with hidden states;
            with a list of inputs a list.
        measure: a `Logit` or `Loss`; a `Divergence` has no slope to estimate by. With a list of
            inputs one for all, or a list with one for each.
        top: how many states are patched in passes of their own: the largest attributions.
        progress: called with the number of these passes made and of all.

    Returns:
        A row for each layer, whose entering states are patched, and a column for each token;
        `exact` is NaN where no pass was made.

    Raises:
        ValueError: for inputs of different lengths.
    """
    progress = progress or bar("state_sweep")
    model = as_model(model)
    several = isinstance(input, list)
    sources, alone = (source, input) if several else ([source], [input])
    given: Any = measure if several else [measure]
    batches = _batches(model, alone, None, given)
    passes, at = [], 0
    for run, measures in batches:
        others = sources[at : at + len(measures)]
        at += len(measures)
        passes.append((run, measures, *_patched(model, run, measures, others)))
    each = torch.cat([rough for *_, rough in passes])
    cells, exact = _largest(each.mean(0), top), []
    for done, (run, measures, other, rough) in enumerate(passes):
        edits = [Patch(layer, "hidden", other, token=token) for layer, token in cells]
        table, report = torch.full_like(rough[0], torch.nan), stretched(progress, done, len(passes))
        clean = run()
        exact.append(_exact(run, clean, table, cells, edits, measures, report))
    numbers = torch.cat(exact)
    return Checked(Mean(each), Mean(numbers)) if several else Checked(each[0], numbers[0])


def _patched(
    model: Model, run: Run, measures: Sequence[Measure], others: Sequence[Any]
) -> tuple[Trace, Float[Tensor, "input layer token"]]:
    """The trace of the other inputs, and the attributions of the states that they give."""
    alone = len(others) == 1
    given = others[0] if alone else list(others)
    other = given if isinstance(given, Trace) else trace(model, given, hidden=True)
    t = run(hidden=True, gradient=_sum_of(measures))
    counts = [len(x.hidden(0, item)) for item in range(len(measures)) for x in (t, other)]
    if different := [count for count in counts if count != counts[0]]:
        raise ValueError(
            f"expected two inputs with the same number of tokens, received {counts[0]} and"
            f" {different[0]}: choose words that have as many"
        )

    def attribution(item: int, layer: int) -> Tensor:
        moved = other.hidden(layer, item) - t.hidden(layer, item)
        return (moved * t.hidden_gradient(layer, item)).float().sum(-1)

    layers = range(len(t.hidden_states[None].states) - 1)  # also those without attention
    every = [[attribution(item, layer) for layer in layers] for item in range(len(measures))]
    return other, torch.stack([torch.stack(rows) for rows in every]).detach().cpu()


def _sum_of(measures: Sequence[Measure]) -> Callable[[Any], Tensor]:
    """The sum over items, whose slope at each is that of its own measure."""
    return lambda output: torch.stack([each.of(output) for each in measures]).sum()


def _largest(rough: Float[Tensor, "layer place"], top: int) -> list[tuple[int, int]]:
    """The cells of the largest attributions, in order; none where it is 0."""
    sizes = rough.abs().nan_to_num(0).flatten()
    best = sizes.topk(min(top, int((sizes > 0).sum()))).indices.tolist()
    return [divmod(each, rough.shape[1]) for each in sorted(best)]


def sites_of(t: Trace, kind: str | None = None, tower: str | None = None) -> tuple[Site, ...]:
    """The attention layers of a sweep.

    Raises:
        ValueError: if there are none, or of several kinds and nothing to choose by.
    """
    sites = [s for s in t.sites if kind in (None, s.kind) and tower in (None, s.tower)]
    names = sorted({(s.kind, s.tower or "") for s in sites})
    if len(names) != 1:
        every = sorted({(s.kind, s.tower or "") for s in t.sites})
        said = ", ".join(f"{kind} of {tower}" if tower else kind for kind, tower in every)
        raise ValueError(f"kind, tower: expected attention layers of one of: {said}")
    return tuple(sites)


def _table(sites: Sequence[Site]) -> Float[Tensor, "layer head"]:
    return torch.full((len(sites), max(site.heads for site in sites)), torch.nan)


def _exact(
    run: Run,
    clean: Trace,
    table: Float[Tensor, "layer place"],
    cells: Sequence[tuple[int, int]],
    edits: Sequence[Edit],
    measures: Sequence[Number],
    progress: Progress,
) -> Float[Tensor, "input layer place"]:
    """The table of each item with the number of a pass with each edit, less that of the pass
    without, in the cells; logits that the measures do not read are left out."""
    output, before = clean.output, [float(each(clean)) for each in measures]
    causal = any(site.kind == "causal" for site in clean.sites)
    whole = output.values.ndim == 3 and output.positions is None and not output.first
    last = all(getattr(each, "query", None) == -1 for each in measures)
    few = 1 if causal and whole and last else None
    tables = table.repeat(len(measures), 1, 1)
    for (row, place), edit in zip(cells, each_of(edits, progress), strict=True):
        t = run(edits=[edit], logits_to_keep=few)
        for item, each in enumerate(measures):
            tables[item, row, place] = float(each(t)) - before[item]
    return tables


def _attributed(
    run: Run,
    edit: EditOf,
    measures: Sequence[Number],
    kind: str | None,
    tower: str | None,
    progress: Progress,
) -> Float[Tensor, "input layer head"]:
    if any(isinstance(each, Divergence | EmbeddingDistance) for each in measures):
        raise ValueError("a divergence or distance has no slope where it is 0: sweep it exactly")
    slopes = [each for each in measures if isinstance(each, Measure)]
    if len(slopes) < len(measures):
        raise ValueError("attribution: expected a measure of the output, as Logit(id) or Loss(ids)")
    t = run(gradient=_sum_of(slopes))
    sites = sites_of(t, kind, tower)
    effects = _table(sites).repeat(len(measures), 1, 1)
    for row, site in enumerate(each_of(sites, progress)):
        edits = [edit(site.layer, head) for head in range(site.heads)]
        items = head_effects(t, site, edits)
        effects[:, row, : site.heads] = items if len(measures) > 1 else items.sum(0)
    return effects


@torch.no_grad()
def head_effects(t: Trace, site: Site, edits: Sequence[Edit]) -> Float[Tensor, "item edit"]:
    """Σ ∇measure · change of the values, for each of some edits of one attention layer.

    Raises:
        ValueError: for an edit that is not of attention, or of another layer.
    """
    pattern = t.pattern(site)
    gradient = pattern.values_gradient
    if gradient is None:
        raise ValueError("expected a trace with the gradient of its values")
    for each in edits:
        if acts_on(each) != ATTENTION:
            raise ValueError(f"{each}: an attribution is of edits of attention: sweep it exactly")
    check(edits, [site.where])
    plain = _values(pattern, ())
    alone = all(isinstance(each, OWN_HEAD) for each in edits)
    if alone and [getattr(each, "head", None) for each in edits] == list(range(pattern.heads)):
        change = (_values(pattern, at(edits, site.where)) - plain) * gradient
        return change.float().sum((2, 3)).cpu()
    moved = [_values(pattern, at([each], site.where)) - plain for each in edits]
    return torch.stack([(change * gradient).float().sum((1, 2, 3)) for change in moved], 1).cpu()


def _values(pattern: Pattern, edits: Sequence[Edit]) -> Tensor:
    given = {"mask": pattern.mask, "score": pattern.score, "bias": pattern.bias}
    return attend(pattern.q, pattern.k, pattern.v, **given, edit=edits)[0]
