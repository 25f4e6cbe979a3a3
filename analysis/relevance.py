"""Relevance: how much each input token or patch counts for one chosen output.

    gradient  Σ A ⊙ ∇A over layers, heads and queries: attention weights times their gradients
    chefer    R ← R + E R with E = mean_h (A ⊙ ∇A)⁺, layer by layer (Chefer et al. 2021)
    attnlrp   layer-wise relevance propagation through every layer (Achtibat et al. 2024)

None of them proves that a token causes the output; `analysis.faithfulness` tests that by removing
tokens. The authors of LXT, the code of AttnLRP, call layer-wise relevance propagation a patented
technology, free for personal and scientific use only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.stack import cross_attention, self_attention
from analysis.target import Target, choose
from models.progress import Progress, no_progress
from models.run import Model, as_model, trace
from models.shown import one_line
from models.trace import Site, Trace

Method = Literal["gradient", "chefer", "attnlrp"]
METHODS: tuple[Method, ...] = ("gradient", "chefer", "attnlrp")


@dataclass(frozen=True, eq=False)
class Relevance:
    """The relevance of every input token for one output.

    Attributes:
        trace: the forward pass, with gradients.
        chosen: what is explained, with its position and id.
        value: of what is explained: a logit, or a cosine similarity.
        tokens: relevance of each token of the input; positive speaks for the output. "chefer" is
            never negative.
        target_tokens: of each token that the decoder of an encoder–decoder read; else None.
        unassigned: of "attnlrp", the part of `value` that no token gets: biases and the softmax
            keep it.
    """

    trace: Trace
    chosen: Target
    value: float
    tokens: Float[Tensor, " token"]
    target_tokens: Float[Tensor, " read"] | None = None
    unassigned: float | None = None

    def __repr__(self) -> str:
        return one_line(self)


def relevance(
    model: Model | Any,
    input: Any,
    *,
    target: Any = None,
    method: Method = "chefer",
    written: Any = None,
) -> Float[Tensor, " token"]:
    """The relevance of each input token or patch; arguments as for `explain`."""
    return explain(model, input, target=target, method=method, written=written).tokens


def explain(
    model: Model | Any,
    input: Any,
    *,
    target: Any = None,
    method: Method = "chefer",
    written: Any = None,
    progress: Progress = no_progress,
) -> Relevance:
    """The relevance of each input token or patch, and what comes with it.

    Args:
        model: from `load`, or a network.
        input: as for `trace`.
        target: the output to explain: the id of a token (at the masked word, else after the last
            token) or of a class; a pair (position, id); a text, see `analysis.target`; for a model
            without logits a second sentence, to which the similarity is explained; None: the
            likeliest output. Of a batch the first item, unless a `Target` names another.
        method: see the module.
        written: what the decoder of an encoder–decoder reads, as `target` of `trace`.
        progress: of the forward pass, as for `trace`.

    Raises:
        ValueError: for a target that is not there, and networks for which a rule does not hold.
    """
    if method not in METHODS:
        raise ValueError(f"method: expected one of {', '.join(METHODS)}, received {method!r}")
    model = as_model(model)
    chosen = target if isinstance(target, Target) and target.is_explicit else None
    chosen = chosen or choose(model, input, target, written=written)
    propagated = method == "attnlrp"
    t = trace(
        model,
        input,
        written,
        hidden=method != "gradient",
        gradient=chosen.score,
        rules="attnlrp" if propagated else "exact",
        progress=progress,
    )
    value, item = float(chosen.score(t.output)), chosen.item
    if propagated:
        tokens, read = _propagated(t, item)
        assigned = float(tokens.sum()) + (0.0 if read is None else float(read.sum()))
        return Relevance(t, chosen, value, tokens, read, value - assigned)
    tokens, read = _chefer(t, item) if method == "chefer" else _gradient(t, item)
    return Relevance(t, chosen, value, tokens, read)


# --- attention times gradient ---------------------------------------------------------------------


def attention_gradient(
    trace: Trace, site: Site, *, positive: bool, item: int = 0
) -> Float[Tensor, "query key"]:
    """Mean over heads of A ⊙ ∇A, heads read one at a time."""
    total = torch.zeros((), device=trace.output.values.device)
    for head in range(site.heads):
        product = trace.weights(site, head, item=item) * trace.gradient(site, head, item=item)
        total = total + (product.clamp(min=0) if positive else product)
    return total / site.heads


def gradient_columns(t: Trace, sites: Sequence[Site], item: int = 0) -> Float[Tensor, " key"]:
    """Σ over some layers, their heads and queries of A ⊙ ∇A, for each key."""
    maps = (site.heads * attention_gradient(t, site, positive=False, item=item) for site in sites)
    return torch.stack([each.sum(0) for each in maps]).sum(0)


def _gradient(t: Trace, item: int) -> tuple[Tensor, Tensor | None]:
    """Σ over layers, heads and queries of A ⊙ ∇A, for each key."""
    source, target = towers_of(t)
    relevance = self_attention(t, source)

    if target is None:
        return gradient_columns(t, relevance, item), None
    crossed = gradient_columns(t, cross_attention(t), item)
    read = gradient_columns(t, self_attention(t, target), item)
    return gradient_columns(t, relevance, item) + crossed, read


def _chefer(t: Trace, item: int) -> tuple[Tensor, Tensor | None]:
    """Rows of R that the output reads, without the identity that R starts from.

    Source: Chefer et al. 2021 (ICCV), eq. 5 to 11.
    """
    source, target = towers_of(t)
    encoder = self_attention(t, source)
    from_source = mixed(t, encoder, item)
    if target is None:
        return reader(t, encoder[-1], item) @ (from_source - _identity(from_source)), None
    decoder, crossed = self_attention(t, target), cross_attention(t)
    between = {site.layer: site for site in crossed}
    count = len(t.query_labels(decoder[0], item))
    read = torch.eye(count, device=from_source.device)
    across = from_source.new_zeros(count, len(from_source))
    for site in decoder:
        layer = attention_gradient(t, site, positive=True, item=item)
        read, across = read + layer @ read, across + layer @ across
        if site.layer in between:
            layer = attention_gradient(t, between[site.layer], positive=True, item=item)
            across = across + _normalised(read).T @ layer @ _normalised(from_source)
    rows = reader(t, crossed[-1], item)
    return rows @ across, rows @ (read - _identity(read))


def mixed(t: Trace, sites: Sequence[Site], item: int = 0) -> Float[Tensor, "token token"]:
    """R of layers of self-attention, from the identity on."""
    count = len(t.query_labels(sites[0], item))
    identity = torch.eye(count, device=t.output.values.device)
    layers = (attention_gradient(t, site, positive=True, item=item) for site in sites)
    return reduce(lambda below, layer: below + layer @ below, layers, identity)


def _identity(matrix: Float[Tensor, "token token"]) -> Float[Tensor, "token token"]:
    return torch.eye(len(matrix), device=matrix.device)


def _normalised(relevance: Float[Tensor, "token token"]) -> Float[Tensor, "token token"]:
    """R̂: rows of R − I divided by their sums, plus I."""
    rest = relevance - _identity(relevance)
    sums = rest.sum(-1, keepdim=True)
    return rest / torch.where(sums == 0, 1.0, sums) + _identity(relevance)


def reader(trace: Trace, last: Site, item: int = 0) -> Float[Tensor, " token"]:
    """The share of each of the item's tokens in what the output is read from; they sum to 1.

    Tokens whose gradients are the same are read as one vector, their mean. Every such vector has
    the same share: a head that reads the class token beside the mean of the patches reads one half
    of each, a head that reads the class token alone all of it.

    Args:
        trace: with hidden states and gradients, which are with respect to the states after the
            final norm. Where the network does not give those, each token that the output depends
            on after the last attention has the same share.
        last: the last attention layer.
        item: index in the batch.

    Raises:
        ValueError: without gradients, and where the output does not depend on the layer.
    """
    recorded = trace.pattern(last).values_gradient
    if recorded is None:
        raise ValueError("expected a trace with gradients")
    states = trace.hidden_states.get(last.tower)
    gradient = None if states is None else states.read_gradient(None, item)
    if gradient is None or not gradient.any():
        places = trace.positions(last, item)[0].to(recorded.device)
        gradient = recorded[item][:, places].abs().sum((0, 2)).diag()
    rows = gradient.float().any(-1)
    if not rows.any():
        raise ValueError("the output does not depend on the last attention layer")
    _, vector, tokens = gradient[rows].unique(dim=0, return_inverse=True, return_counts=True)
    shares = torch.zeros(len(gradient), device=gradient.device)
    shares[rows] = 1 / (len(tokens) * tokens[vector]).float()
    return shares


def towers_of(trace: Trace) -> tuple[str | None, str | None]:
    """The tower that reads the input, and that of the decoder of an encoder–decoder."""
    kinds = [site for site in trace.sites if site.kind != "cross"]
    crossed = any(site.kind == "cross" for site in trace.sites)
    if trace.target_tokens is None or not crossed:
        mine = [s.tower for s in kinds if trace.queries(s) == trace.tokens]
        return (mine[0] if mine else kinds[0].tower if kinds else None), None
    target = next((s.tower for s in kinds if trace.queries(s) == trace.target_tokens), None)
    if target is None:
        raise ValueError(
            f"{trace.model} has a decoder whose tokens meet by other means than attention"
        )
    source = next(s.tower for s in kinds if s.tower != target)
    return source, target


# --- relevance propagation ------------------------------------------------------------------------


def _propagated(t: Trace, item: int) -> tuple[Tensor, Tensor | None]:
    """Activation times gradient, at the input of the first layer."""
    source, target = towers_of(t)
    if source not in t.hidden_states:
        raise ValueError(
            f"{t.model} gives no hidden states of the tokens that its attention is over"
        )
    tokens = _at_input(t, item, source)
    if len(tokens) != len(t.tokens[item]):
        raise ValueError(f"{t.model} gives hidden states of other tokens than its input's")
    if target is None:
        return tokens, None
    return tokens, _at_input(t, item, target)


def _at_input(t: Trace, item: int, tower: str | None) -> Tensor:
    return (t.hidden(0, item, tower=tower) * t.hidden_gradient(0, item, tower=tower)).sum(-1)
