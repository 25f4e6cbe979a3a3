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
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.effects import Divergence, EmbeddingDistance, Measure
from models.attention import Edit, Pattern, attend
from models.edits import Ablate, Cut, Patch, SetWeights, Temperature
from models.edits.routing import ATTENTION, acts_on, at, check
from models.progress import Progress, no_progress
from models.progress import each as each_of
from models.run import Model, as_model, trace
from models.trace import Site, Trace

OWN_HEAD = (Ablate, Cut, SetWeights, Temperature)  # read and change no head but their own
EditOf = Callable[[int, int], Edit]
Number = Callable[[Trace], float | Tensor]
Run = Callable[..., Trace]
HOW = ("exact", "attribution")


def sweep(
    model: Model | Any,
    input: Any,
    target: Any = None,
    *,
    edit: EditOf,
    measure: Number,
    how: Literal["exact", "attribution"] = "exact",
    kind: str | None = None,
    tower: str | None = None,
    layer: int | None = None,
    progress: Progress = no_progress,
) -> Float[Tensor, "layer head"]:
    """The change of a number of the output by an edit of each head.

    Args:
        model: from `load`, or a network.
        input: as for `trace`.
        target: as for `trace`.
        edit: makes the edit of a layer and head, as `lambda layer, head: Ablate(layer, head)`.
        measure: makes a number of a trace: a `Logit`, `Loss` or `Divergence`, or a function, which
            an attribution does not take.
        how: "exact" makes a pass for each head; "attribution" linearises what follows the heads,
            in one pass and its gradient.
        kind: of the attention layers, where the model has several.
        tower: likewise.
        layer: of an exact sweep, the one whose heads are swept; None for all.
        progress: called with the number of passes made and of all; an exception ends the sweep.

    Returns:
        The number with the edit less that without, in its own unit; a row for each attention
        layer, in order; NaN where it has fewer heads than others, and
        in other layers than a chosen one.

    Raises:
        ValueError: for another `how`, layers of several kinds, edits of layers that are not there,
            and for an attribution of what is no edit of attention or has no slope.
    """
    if how not in HOW:
        raise ValueError(f"how: expected one of {', '.join(HOW)}, received {how!r}")
    run = partial(trace, as_model(model), input, target)
    if how == "attribution":
        return _attributed(run, edit, measure, kind, tower, progress)
    clean = run()
    sites = sites_of(clean, kind, tower)
    rows = [row for row, site in enumerate(sites) if layer in (None, site.layer)]
    cells = [(row, head) for row in rows for head in range(sites[row].heads)]
    edits = [edit(sites[row].layer, head) for row, head in cells]
    return _exact(run, clean, _table(sites), cells, edits, measure, progress)


@dataclass(frozen=True, eq=False)
class Checked:
    """A sweep by attribution, and exactly where it found most.

    Attributes:
        attribution: of every head, or state.
        exact: of those with the largest attributions; NaN elsewhere.
    """

    attribution: Float[Tensor, "layer place"]
    exact: Float[Tensor, "layer place"]


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
) -> Checked:
    """A sweep by attribution, then exactly for the `top` heads where it is largest; see `sweep`."""
    run = partial(trace, as_model(model), input, target)
    rough, clean = _attributed(run, edit, measure, kind, tower, no_progress), run()
    sites, cells = sites_of(clean, kind, tower), _largest(rough, top)
    edits = [edit(sites[row].layer, head) for row, head in cells]
    return Checked(rough, _exact(run, clean, _table(sites), cells, edits, measure, progress))


def state_sweep(
    model: Model | Any,
    input: Any,
    source: Any,
    *,
    measure: Measure,
    top: int = 0,
    progress: Progress = no_progress,
) -> Checked:
    """The change of a number of the output by each state that another input gives.

    Args:
        model: from `load`, or a network, with one stack of layers.
        input: as for `trace`: one sequence.
        source: the other input, with the same number of tokens, or its trace with hidden states.
        measure: a `Logit` or `Loss`; a `Divergence` has no slope to estimate by.
        top: how many states are patched in passes of their own: the largest attributions.
        progress: called with the number of these passes made and of all.

    Returns:
        A row for each layer, whose entering states are patched, and a column for each token;
        `exact` is NaN where no pass was made.

    Raises:
        ValueError: for inputs of different lengths.
    """
    run = partial(trace, as_model(model), input)
    other = source if isinstance(source, Trace) else trace(model, source, hidden=True)
    t = run(hidden=True, gradient=measure.of)
    counts = [len(each.hidden(0)) for each in (t, other)]
    if counts[0] != counts[1]:
        raise ValueError(
            f"expected two inputs with the same number of tokens, received {counts[0]} and"
            f" {counts[1]}: choose words that have as many"
        )
    rough = torch.stack(
        [  # of the states that enter the layers, also those without attention
            ((other.hidden(layer) - t.hidden(layer)) * t.hidden_gradient(layer)).float().sum(-1)
            for layer in range(len(t.hidden_states[None].states) - 1)
        ]
    )
    rough, cells = rough.detach().cpu(), _largest(rough, top)
    edits = [Patch(layer, "hidden", other, token=token) for layer, token in cells]
    table = torch.full_like(rough, torch.nan)
    clean = run() if cells else t
    return Checked(rough, _exact(run, clean, table, cells, edits, measure, progress))


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
    measure: Number,
    progress: Progress,
) -> Float[Tensor, "layer place"]:
    """The table with the number of a pass with each edit, less that of the pass without, in the
    cells; logits that the measure does not read are left out."""
    output, before = clean.output, float(measure(clean))
    causal = any(site.kind == "causal" for site in clean.sites)
    whole = output.values.ndim == 3 and output.positions is None and not output.first
    few = 1 if causal and whole and getattr(measure, "query", None) == -1 else None
    for cell, edit in zip(cells, each_of(edits, progress), strict=True):
        table[cell] = float(measure(run(edits=[edit], logits_to_keep=few))) - before
    return table


def _attributed(
    run: Run,
    edit: EditOf,
    measure: Number,
    kind: str | None,
    tower: str | None,
    progress: Progress,
) -> Float[Tensor, "layer head"]:
    if isinstance(measure, Divergence | EmbeddingDistance):
        raise ValueError("a divergence or distance has no slope where it is 0: sweep it exactly")
    if not isinstance(measure, Measure):
        raise ValueError("attribution: expected a measure of the output, as Logit(id) or Loss(ids)")
    t = run(gradient=measure.of)
    sites = sites_of(t, kind, tower)
    effects = _table(sites)
    for row, site in enumerate(each_of(sites, progress)):
        edits = [edit(site.layer, head) for head in range(site.heads)]
        effects[row, : site.heads] = head_effects(t, site, edits)
    return effects


@torch.no_grad()
def head_effects(t: Trace, site: Site, edits: Sequence[Edit]) -> Float[Tensor, " edit"]:
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
        return change.float().sum((0, 2, 3)).cpu()
    moved = [_values(pattern, at([each], site.where)) - plain for each in edits]
    return torch.stack([(change * gradient).float().sum() for change in moved]).cpu()


def _values(pattern: Pattern, edits: Sequence[Edit]) -> Tensor:
    given = {"mask": pattern.mask, "score": pattern.score, "bias": pattern.bias}
    return attend(pattern.q, pattern.k, pattern.v, **given, edit=edits)[0]
