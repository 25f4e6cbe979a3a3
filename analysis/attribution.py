"""Direct logit attribution: what each component adds to the logit of a token.

    logit = W_token · norm(Σ_part x_part) + bias = Σ_part W_token · norm_part(x_part) + biases

The last state of the stream is the sum of what embeddings, heads, feed-forward networks and biases
wrote. With the deviation of the final norm held at its value on this input, the logit is linear in
it. A capped logit is divided in the proportions that it has before the cap. What a component does
through later layers is counted there, not here.

Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; the norm held fixed
as in nostalgebraist 2020 and Wang et al. 2022, "Interpretability in the Wild", section 3.
"""

from collections.abc import Sequence
from typing import Any, overload

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.many import Mean
from models.projections import BIASES, Readout
from models.trace import Trace

TOLERANCE = 1e-4  # of a logit, or of the sum of the sizes of its parts where they cancel
COARSE = 3e-2  # the same in half precision


@overload
def logit_attribution(
    t: Trace, token_id: int, *, query: int = -1, versus: int | None = None, item: int = 0
) -> dict[str, float]: ...
@overload
def logit_attribution(
    t: list[Trace],
    token_id: int | Sequence[int],
    *,
    query: int = -1,
    versus: int | None = None,
) -> dict[str, Mean]: ...
@torch.no_grad()
def logit_attribution(
    t: Any, token_id: Any, *, query: int = -1, versus: int | None = None, item: int = 0
) -> Any:
    """What each part of the network adds to a logit, or to the difference of two.

    It takes two more passes of the network.

    Args:
        t: of a network with logits of tokens; or a list of traces, each item of which counts.
        token_id: whose logit is divided; with a list of traces one for all, or one for each item.
        query: the token whose logits are read, among the item's own ones; negative values count
            from the last one.
        versus: another token, whose logit is subtracted; None for no other.
        item: index in the batch.

    Returns:
        By name ("layer 3, head 5", "layer 3, MLP", "token embedding", "biases"), numbers that sum
        to the logit or the difference. Of a list of traces the `Mean` of each part; one that an
        item lacks adds 0 to it.

    Raises:
        ValueError: for a token or position that is not there; where the components of the stream,
            the final norm or the unembedding cannot be told, by name; and where the parts do not
            sum to the logit.
    """
    if isinstance(t, list):
        items = [(each, item) for each in t for item in range(len(each.tokens))]
        ids = [token_id] * len(items) if isinstance(token_id, int) else [*token_id]
        if len(ids) != len(items) or not items:
            raise ValueError(f"token_id: expected one for each of {len(items)} items")
        results = [
            logit_attribution(each, id, query=query, versus=versus, item=item)
            for (each, item), id in zip(items, ids, strict=True)
        ]
        names = dict.fromkeys(name for parts in results for name in parts)
        return {name: Mean(torch.tensor([p.get(name, 0.0) for p in results])) for name in names}
    logits = t.output.logits_of(query, item)
    ids = [token_id] if versus is None else [token_id, versus]
    for each in ids:
        if not 0 <= each < len(logits):
            raise ValueError(f"token: expected 0 to {len(logits) - 1}, received {each}")
    readout = t.readout()
    count = t.output.missing(item) + len(t.output.of_item(item))
    stream = t.stream(None, [query % count], item=item)
    parts = {name: part[0] for name, part in stream.parts().items()}
    parts = parts if readout.norm is None else readout.norm.shares(parts)
    attributions = [_divided(parts, readout, each) for each in ids]
    limit = TOLERANCE if t.output.values.dtype in (torch.float32, torch.float64) else COARSE
    for id, attribution in zip(ids, attributions, strict=True):
        off = abs(sum(attribution.values()) - float(logits[id]))
        if off > limit * max(abs(float(logits[id])), sum(map(abs, attribution.values()))):
            raise ValueError(
                f"expected parts that sum to the logit {float(logits[id]):.4g} of token {id},"
                f" received a difference of {off:.2g}"
            )
    if len(attributions) == 1:
        return attributions[0]
    return {name: value - attributions[1][name] for name, value in attributions[0].items()}


def _divided(
    parts: dict[str, Float[Tensor, " dim"]], readout: Readout, id: int
) -> dict[str, float]:
    """The shares of the parts in one logit."""
    row = readout.unembedding[id].double() * readout.scale
    shares = {name: float(part @ row) for name, part in parts.items()}
    if readout.bias is not None:
        shares[BIASES] = shares.get(BIASES, 0.0) + float(readout.bias[id])
    logit = torch.tensor(sum(shares.values()), dtype=torch.float64)
    if readout.softcap is None or not logit:
        return shares
    capped = float(readout.capped(logit) / logit)
    return {name: share * capped for name, share in shares.items()}
