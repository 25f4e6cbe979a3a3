"""What heads do: measured by ablation, and two reasons why attention is not an explanation.

Ablation: the values of one head are replaced by zeros, and the loss is measured again. A pattern
may suggest a role; only an intervention shows whether the output depends on it.

Other weights, same output: a head's output is its weights times the values. Where there are more
keys than value features, w · V = (w + n) · V for every n with n · V = 0 (Brunner et al. 2020).

Removal: each key of one query is hidden in turn, and the change of the prediction is compared with
the weight the key had (Jain and Wallace 2019).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from models.attention import Edit
from models.decoder import Decoder
from models.edits import Ablate, Cut


@dataclass(frozen=True)
class Ablated:
    """A network with one head ablated.

    Attributes:
        layer: of the head; None for the whole network.
        head: which head; None for the whole network.
        loss: mean cross entropy of the next token.
        accuracy: share of next tokens that are the most likely one.
    """

    layer: int | None
    head: int | None
    loss: float
    accuracy: float


def repeats(count: int, length: int, low: int, high: int) -> Int[Tensor, "c t"]:
    """Random ids from low to high, high excluded, each row a sequence that comes twice.

    The second half can be predicted from the first, all but its first token.
    """
    chance = torch.Generator().manual_seed(0)
    once = torch.stack(
        [low + torch.randperm(high - low, generator=chance)[:length] for _ in range(count)]
    )
    return torch.cat([once, once], dim=1)


def ablations(network: Decoder, ids: Int[Tensor, "batch token"], first: int) -> tuple[Ablated, ...]:
    """Loss and accuracy as it is, and with each head's values set to zero.

    Args:
        network: in eval mode.
        ids: texts of one length.
        first: the first position whose prediction of the next token counts.
    """
    config = network.config
    places = [
        (None, None),
        *((layer, head) for layer in range(config.depth) for head in range(config.heads)),
    ]
    ablated = []
    for layer, head in places:
        edits = () if layer is None else (Ablate(layer, head),)
        with torch.no_grad():
            logits = network(ids, edits=edits).logits[:, first:-1]
        right = ids[:, first + 1 :]
        loss = F.cross_entropy(logits.flatten(0, 1), right.flatten())
        accuracy = (logits.argmax(-1) == right).float().mean()
        ablated.append(Ablated(layer, head, loss.item(), accuracy.item()))
    return tuple(ablated)


def other_weights(
    weights: Float[Tensor, " key"], values: Float[Tensor, "key dim"]
) -> Float[Tensor, " key"]:
    """Other weights of the same output: none negative, with the same sum, and w · V unchanged.

    Goes from the weights in a random direction that changes neither the sum nor the output, until
    a weight is 0.

    Raises:
        ValueError: with at most one key more than value features, where there need be no such
            direction.
    """
    keys, dim = values.shape
    if keys < dim + 2:
        raise ValueError(f"keys: expected at least {dim + 2} for {dim} features, received {keys}")
    fixed = torch.cat([values, torch.ones(keys, 1)], dim=1).double()
    free = torch.linalg.svd(fixed.T, full_matrices=True).Vh[torch.linalg.matrix_rank(fixed) :]
    chance = torch.Generator().manual_seed(0)
    direction = torch.randn(len(free), generator=chance, dtype=torch.float64) @ free
    shrinking = direction < 0
    length = (weights[shrinking] / -direction[shrinking]).min()
    return (weights + length * direction).clamp(min=0).to(weights)


@dataclass(frozen=True)
class Removed:
    """One key hidden from one query.

    Attributes:
        key: its position.
        weight: what the query gave it.
        change: total variation distance of the next-token probabilities: 0 for none, at most 1.
    """

    key: int
    weight: float
    change: float


def next_probabilities(
    network: Decoder, ids: Int[Tensor, " token"], edits: Sequence[Edit] = ()
) -> Float[Tensor, " vocab"]:
    """Probabilities of the token after a text.

    Args:
        network: in eval mode.
        ids: one text.
        edits: of the forward pass.
    """
    with torch.no_grad():
        return network(ids[None], edits=edits).logits[0, -1].softmax(-1)


def removals(
    network: Decoder, ids: Int[Tensor, " token"], layer: int, head: int
) -> tuple[Removed, ...]:
    """Each key of the last query hidden in turn from one head.

    Args:
        network: in eval mode.
        ids: one text of two tokens or more.
        layer: of the head.
        head: which head.
    """
    last = len(ids) - 1
    before = next_probabilities(network, ids)
    with torch.no_grad():
        weights = network(ids[None]).patterns[layer].weights(head)[0, -1]
    cuts = [Cut(layer, head, last, key) for key in range(len(ids))]
    changes = [(next_probabilities(network, ids, (cut,)) - before).abs().sum() / 2 for cut in cuts]
    pairs = zip(weights.tolist(), changes, strict=True)
    return tuple(Removed(key, weight, change.item()) for key, (weight, change) in enumerate(pairs))
