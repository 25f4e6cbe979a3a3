"""Sweeps: one edit of every head in turn, and what each does to one number of the output.

    exact         measure(pass with the edit) − measure(pass without)
    attribution   Σ ∇measure · (values of the head with the edit − without)

An exact sweep makes a pass for each head. An attribution takes a pass and its gradient. There the
values of a head, its softmax included, are computed anew under the edit, so only what follows the
head is linearised.

Source: Kramár et al. 2024, "AtP*: An efficient and scalable method for localizing LLM behaviour to
components", section 3.1, for the softmax; Nanda 2023, "Attribution patching".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.effects import Divergence, EmbeddingDistance, Measure
from models.attention import Edit, Pattern, attend
from models.edits import Ablate, Cut, SetWeights, Temperature
from models.edits.routing import ATTENTION, acts_on, at, check
from models.progress import Progress, no_progress
from models.progress import each as each_of
from models.run import Model, as_model, trace
from models.trace import Site, Trace

OWN_HEAD = (Ablate, Cut, SetWeights, Temperature)  # read and change no head but their own
EditOf = Callable[[int, int], Edit]
Number = Callable[[Trace], float | Tensor]
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
    model = as_model(model)
    if how == "attribution":
        return _attributed(model, input, target, edit, measure, kind, tower, progress)
    clean = trace(model, input, target)
    sites = sites_of(clean, kind, tower)
    rows = [row for row, site in enumerate(sites) if layer in (None, site.layer)]
    cells = [(row, head) for row in rows for head in range(sites[row].heads)]
    edits = [edit(sites[row].layer, head) for row, head in cells]
    effects = changes((model, input, target), clean, edits, measure, progress)
    return _table(sites, dict(zip(cells, effects, strict=True)))


@dataclass(frozen=True, eq=False)
class Checked:
    """A sweep by attribution, and exactly where it found most.

    Attributes:
        attribution: of every head.
        exact: of the heads with the largest attributions; NaN elsewhere.
    """

    attribution: Float[Tensor, "layer head"]
    exact: Float[Tensor, "layer head"]


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
    model = as_model(model)
    rough = _attributed(model, input, target, edit, measure, kind, tower, no_progress)
    clean = trace(model, input, target)
    sites = sites_of(clean, kind, tower)
    sizes = rough.abs().nan_to_num(-1).flatten()
    best = sizes.topk(min(top, int((sizes >= 0).sum()))).indices.tolist()
    cells = [divmod(each, rough.shape[1]) for each in sorted(best)]
    edits = [edit(sites[row].layer, head) for row, head in cells]
    effects = changes((model, input, target), clean, edits, measure, progress)
    return Checked(rough, _table(sites, dict(zip(cells, effects, strict=True))))


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


def changes(
    given: tuple[Model, Any, Any],
    clean: Trace,
    edits: Sequence[Edit],
    measure: Number,
    progress: Progress,
) -> list[float]:
    """The number of a pass with each of some edits, less that of the pass without; logits that the
    measure does not read are left out. `given` is model, input and target."""
    output, before = clean.output, float(measure(clean))
    causal = any(site.kind == "causal" for site in clean.sites)
    whole = output.values.ndim == 3 and output.positions is None and not output.first
    few = 1 if causal and whole and getattr(measure, "query", None) == -1 else None
    passes = (trace(*given, edits=[edit], logits_to_keep=few) for edit in each_of(edits, progress))
    return [float(measure(t)) - before for t in passes]


def _table(
    sites: Sequence[Site], cells: Mapping[tuple[int, int], float]
) -> Float[Tensor, "layer head"]:
    """Numbers by row and head; NaN elsewhere."""
    table = torch.full((len(sites), max(site.heads for site in sites)), torch.nan)
    for cell, number in cells.items():
        table[cell] = number
    return table


def _attributed(
    model: Model,
    input: Any,
    target: Any,
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
    t = trace(model, input, target, gradient=measure.of)
    sites = sites_of(t, kind, tower)
    effects = torch.full((len(sites), max(site.heads for site in sites)), torch.nan)
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
