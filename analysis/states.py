"""Which states carry what two inputs differ in: each one patched from one pass into the other.

    exact         measure(pass with h′ in the place of h) − measure(pass)
    attribution   ∇h measure · (h′ − h), of the states h, h′ of two inputs at a layer and token

An attribution takes two passes and a gradient for all layers and tokens together; what follows the
state is linearised.

Source: Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2; Nanda 2023,
"Attribution patching".
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.effects import Measure
from analysis.sweep import Checked, changes
from models.edits import Patch
from models.progress import Progress, no_progress
from models.run import Model, as_model, trace
from models.trace import Trace


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
    model = as_model(model)
    other = source if isinstance(source, Trace) else trace(model, source, hidden=True)
    t = trace(model, input, hidden=True, gradient=measure.of)
    counts = [len(each.hidden(0)) for each in (t, other)]
    if counts[0] != counts[1]:
        raise ValueError(
            f"expected two inputs with the same number of tokens, received {counts[0]} and"
            f" {counts[1]}: choose words that have as many"
        )
    rough = _attributed(t, other)
    exact = torch.full_like(rough, torch.nan)
    differ = int((rough != 0).sum())
    best = sorted(rough.abs().flatten().topk(min(top, differ)).indices.tolist())
    if best:
        cells = [divmod(each, rough.shape[1]) for each in best]
        edits = [Patch(layer, "hidden", other, token=token) for layer, token in cells]
        clean = trace(model, input)
        effects = changes((model, input, None), clean, edits, measure, progress)
        exact.view(-1)[best] = torch.tensor(effects)
    return Checked(rough, exact)


def _attributed(t: Trace, other: Trace) -> Float[Tensor, "layer token"]:
    """By layer and token, for the states that enter the layers, also those without attention."""
    layers = len(t.hidden_states[None].states) - 1
    rows = [
        ((other.hidden(layer) - t.hidden(layer)) * t.hidden_gradient(layer)).float().sum(-1)
        for layer in range(layers)
    ]
    return torch.stack(rows).detach().cpu()
