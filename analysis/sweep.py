"""Sweeps: one edit of every head in turn, and what each does to one number of the output.

    exact         measure(pass with the edit) − measure(pass without)
    attribution   Σ ∇measure · (values of the head with the edit − without)

An exact sweep makes a pass for each head. An attribution takes a pass and its gradient. There the
values of a head, its softmax included, are computed anew under the edit, so only what follows the
head is linearised.

Source: Kramár et al. 2024, "AtP*: An efficient and scalable method for localizing LLM behaviour to
components", section 3.1, for the softmax; Nanda 2023, "Attribution patching".
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    passes = Passes.of(model, input, target)
    sites = sites_of(passes.clean, kind, tower)
    rows = [row for row, site in enumerate(sites) if layer in (None, site.layer)]
    cells = [(row, head) for row in rows for head in range(sites[row].heads)]
    return _exact(passes, sites, cells, edit, measure, progress)


@dataclass(frozen=True, eq=False)
class Checked:
    """A sweep by attribution, and exactly where it found most.

    Attributes:
        attribution: of every head.
        exact: of the heads with the largest attributions; NaN elsewhere.
    """

    attribution: Float[Tensor, "layer head"]
    exact: Float[Tensor, "layer head"]

    @property
    def difference(self) -> Float[Tensor, "layer head"]:
        """Exact less attribution: where it is large, what follows the head is not linear."""
        return self.exact - self.attribution


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
    """A sweep by attribution, then exactly for the heads where it is largest; see `sweep`.

    Args:
        model: from `load`, or a network.
        input: as for `trace`.
        target: as for `trace`.
        edit: as for `sweep`.
        measure: as for `sweep`.
        top: how many heads are swept exactly.
        kind: as for `sweep`.
        tower: as for `sweep`.
        progress: as for `sweep`, of the exact part.
    """
    model = as_model(model)
    rough = _attributed(model, input, target, edit, measure, kind, tower, no_progress)
    passes = Passes.of(model, input, target)
    sites = sites_of(passes.clean, kind, tower)
    sizes = rough.abs().nan_to_num(-1).flatten()
    best = sizes.topk(min(top, int((sizes >= 0).sum()))).indices.tolist()
    cells = [divmod(each, rough.shape[1]) for each in sorted(best)]
    return Checked(rough, _exact(passes, sites, cells, edit, measure, progress))


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


# --- exact ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Passes:
    """Passes of one input with edits.

    Attributes:
        clean: the pass without edits.
        given: model, input and target.
    """

    clean: Trace
    given: tuple[Model, Any, Any]

    @staticmethod
    def of(model: Model, input: Any, target: Any = None) -> "Passes":
        """Makes the pass without edits."""
        return Passes(trace(model, input, target), (model, input, target))

    def edited(self, edits: Sequence[Edit], measure: Number | None = None) -> Trace:
        """A pass with edits.

        Args:
            edits: interventions, in order.
            measure: that the pass is for; logits that it does not read are left out.
        """
        few = 1 if self._reads_last(measure) else None
        return trace(*self.given, edits=edits, logits_to_keep=few)

    def changes(
        self, edits: Iterable[Edit], count: int, measure: Number, progress: Progress
    ) -> Iterator[float]:
        """The number with each of `count` edits, less that without."""
        clean = float(measure(self.clean))
        for done, each in enumerate(edits):
            progress(done, count)
            yield float(measure(self.edited([each], measure))) - clean
        progress(count, count)

    def _reads_last(self, measure: Number | None) -> bool:
        """Whether the logits of the last token are enough."""
        output = self.clean.output
        causal = any(site.kind == "causal" for site in self.clean.sites)
        whole = output.values.ndim == 3 and output.positions is None and not output.first
        return causal and whole and getattr(measure, "query", None) == -1


def _exact(
    passes: Passes,
    sites: Sequence[Site],
    cells: Sequence[tuple[int, int]],
    edit: EditOf,
    measure: Number,
    progress: Progress,
) -> Float[Tensor, "layer head"]:
    effects = torch.full((len(sites), max(site.heads for site in sites)), torch.nan)
    edits = (edit(sites[row].layer, head) for row, head in cells)
    for cell, change in zip(
        cells, passes.changes(edits, len(cells), measure, progress), strict=True
    ):
        effects[cell] = change
    return effects


# --- attribution ----------------------------------------------------------------------------------


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
    for row, site in enumerate(sites):
        progress(row, len(sites))
        edits = [edit(site.layer, head) for head in range(site.heads)]
        effects[row, : site.heads] = head_effects(t, site, edits)
    progress(len(sites), len(sites))
    return effects


@torch.no_grad()
def head_effects(t: Trace, site: Site, edits: Sequence[Edit]) -> Float[Tensor, " edit"]:
    """Σ ∇measure · change of the values, for each of some edits of one attention layer.

    Args:
        t: of the pass without edits, with the gradient of the measure.
        site: the layer.
        edits: of this layer.

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
    changes = [_values(pattern, at([each], site.where)) - plain for each in edits]
    return torch.stack([(change * gradient).float().sum() for change in changes]).cpu()


def _values(pattern: Pattern, edits: Sequence[Edit]) -> Tensor:
    given = {"mask": pattern.mask, "score": pattern.score, "bias": pattern.bias}
    return attend(pattern.q, pattern.k, pattern.v, **given, edit=edits)[0]
