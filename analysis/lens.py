"""Lenses: what a hidden state would be read as, had the network ended there.

    logit lens      logits = unembed(h)           (nostalgebraist 2020)
    Jacobian lens   logits = unembed(J h),   J = E[∂h_last(t′) / ∂h(t)] summed over t′ ≥ t

`unembed` is the network's own final norm and output projection. J carries a state of one layer to
the last one: it is the mean over tokens t of how all later last states change with it. A lens shows
what a state would make the network write; not that the network uses it so.

Source: Gurnee et al. 2026, "Verbalizable Representations Form a Global Workspace in Language
Models", for the Jacobian lens. There J is fitted on 1,000 texts of web pages; first tokens, which
hold attention sinks, are left out, and so is the last.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from models.progress import Progress, each, no_progress
from models.trace import MAX_ANSWER, Trace

SINKS = 16  # first tokens that a Jacobian leaves out


@torch.no_grad()
def logit_lens(
    t: Trace, layer: int, *, tokens: Sequence[int] | None = None, item: int = 0
) -> Float[Tensor, "token vocab"]:
    """The logits of the states that leave a layer; at the last layer those of the output.

    Args:
        t: with hidden states, of `trace(…, hidden=True)`.
        layer: 0 is the embedding, −1 the last.
        tokens: which of the item's own tokens; None for all.
        item: index in the batch.

    Raises:
        ValueError: without hidden states; for a layer or token that is not there; for a network
            whose final norm or unembedding cannot be told, by name; and for an answer of more than
            256 MiB.
    """
    return _read(t, _states(t, layer, tokens, item))


@torch.no_grad()
def jacobian_lens(
    t: Trace,
    layer: int,
    *,
    jacobian: Float[Tensor, "dim dim"] | None = None,
    tokens: Sequence[int] | None = None,
    item: int = 0,
) -> Float[Tensor, "token vocab"]:
    """The logits of the states that leave a layer, carried to the last one by a mean Jacobian.

    At the last layer, J is the identity, and the lens gives the output.

    Args:
        t: with hidden states.
        layer: 0 is the embedding, −1 the last.
        jacobian: of this layer, from `jacobians`; None computes it, which takes as many backward
            passes as the states are wide.
        tokens: which of the item's own tokens; None for all.
        item: index in the batch.

    Raises:
        ValueError: as `logit_lens` and `jacobians`.
    """
    states = _states(t, layer, tokens, item)
    matrix = jacobians(t, [layer], item=item)[0] if jacobian is None else jacobian
    if matrix.shape != (states.shape[1],) * 2:
        raise ValueError(
            f"jacobian: expected {states.shape[1]} × {states.shape[1]} numbers, received"
            f" {tuple(matrix.shape)}"
        )
    return _read(t, (states.float() @ matrix.float().T).to(states.dtype))


@torch.enable_grad()
def jacobians(
    t: Trace,
    layers: Sequence[int] | None = None,
    *,
    item: int = 0,
    progress: Progress = no_progress,
) -> Float[Tensor, "layer dim dim"]:
    """J of several layers: the mean over tokens t of Σ_{t′} ∂h_last(t′) / ∂h(t).

    Rows are features of the last state; one backward pass through all layers is made for each. The
    first 16 tokens are left out, as t and as t′, or half of a text that has fewer than 32; so is
    the last token, unless it is the only one.

    Args:
        t: with hidden states.
        layers: 0 is the embedding, −1 the last; None for all.
        item: index in the batch.
        progress: called with the number of backward passes made and of all.

    Raises:
        ValueError: without hidden states, and for weights that are frozen.
    """
    if not t.hidden_states:
        raise ValueError("expected a trace with hidden states: trace(..., hidden=True)")
    states = t.differentiable_states()
    asked = range(len(states)) if layers is None else layers
    sources, last = [states[_layer(layer, len(states))] for layer in asked], states[-1]
    if not all(source.requires_grad for source in sources):
        raise ValueError("expected weights that are not frozen (requires_grad)")
    mine = t.hidden_states[_tower(t)].axes[-1].positions_of(item).to(last.device)
    used = mine[min(SINKS, len(mine) // 2) : max(len(mine) - 1, 1)]
    jacobian = torch.empty(len(sources), last.shape[2], last.shape[2], device=last.device)
    for feature in each(range(last.shape[2]), progress):
        number = last[item, used, feature].sum()
        changes = torch.autograd.grad(number, sources, retain_graph=True, materialize_grads=True)
        for row, change in zip(jacobian, changes, strict=True):
            row[feature] = change[item, used].float().mean(0)
    return jacobian


def _tower(t: Trace) -> str | None:
    """That of the output: the last to attend."""
    return t.sites[-1].tower


def _states(
    t: Trace, layer: int, tokens: Sequence[int] | None, item: int
) -> Float[Tensor, "token dim"]:
    hidden = t.hidden_states.get(_tower(t))
    count = len(hidden.states) if hidden is not None else 1
    states = t.hidden(_layer(layer, count), item, tower=_tower(t))
    if tokens is None:
        return states
    for token in tokens:
        if not -len(states) <= token < len(states):
            raise ValueError(f"token: expected 0 to {len(states) - 1}, received {token}")
    return states[list(tokens)]


def _layer(layer: int, count: int) -> int:
    if not -count <= layer < count:
        raise ValueError(f"layer: expected 0 to {count - 1}, received {layer}")
    return layer % count


def _read(t: Trace, states: Float[Tensor, "token dim"]) -> Float[Tensor, "token vocab"]:
    readout = t.readout()
    size = 4 * len(states) * len(readout.unembedding)
    if size > MAX_ANSWER:
        raise ValueError(
            f"the answer would take {size / 2**20:.0f} MiB (at most {MAX_ANSWER / 2**20:.0f}):"
            " choose fewer tokens with tokens="
        )
    return readout(states).float()
