"""DecompX: the hidden state of a token as a sum of vectors, one for each token of the input.

    x_i = Σ_k x_i⇐k + what biases add

The vectors are followed through every layer: values, output projections, residual connections,
norms and feed-forward networks. Attention weights are taken as they are. The rules are those of
`models.decompx`.

Source: Modarressi et al. 2023, "DecompX: Explaining Transformers Decisions by Propagating Token
Decomposition".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.stack import self_attention
from models.one_line import one_line
from models.trace import Trace

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The last hidden state of one token, taken apart.

    Attributes:
        vectors: the part of each input token.
        rest: what biases add.
        state: of the token as it leaves the last layer, before any final norm: the sum of both.
    """

    vectors: Float[Tensor, "key dim"]
    rest: Float[Tensor, " dim"]
    state: Float[Tensor, " dim"]

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def norms(self) -> Float[Tensor, " key"]:
        """The length of each part, in the units of the hidden states."""
        return self.vectors.norm(dim=-1)


def decompx(
    trace: Trace,
    query: int,
    *,
    tower: str | None = None,
    item: int = 0,
    progress: Progress | None = None,
) -> Decomposition:
    """The last hidden state of one token as a sum over input tokens.

    Each input token takes a pass through the network, with the memory of two; all vectors from
    token to token never exist together.

    Args:
        trace: with hidden states (`trace(..., hidden=True)`).
        query: position of the token.
        tower: of a model with several, such as "encoder".
        item: index in the batch.
        progress: called after each input token with how many are done, and of how many.

    Raises:
        ValueError: for a token that is not there, without hidden states, for a decoder that reads
            an encoder, and as `stack.self_attention`.
    """
    tokens = len(trace.query_labels(self_attention(trace, tower)[0], item))
    if not 0 <= query < tokens:
        raise ValueError(f"query: expected 0 to {tokens - 1}, received {query}")
    rows = []
    for part in parts(trace, range(tokens), tower=tower, item=item):
        rows.append(part[query].clone())
        if progress is not None:
            progress(len(rows), tokens)
    vectors = torch.stack(rows)
    state = trace.hidden(_depth(trace, tower), item, tower=_tower(trace, tower)).float()[query]
    return Decomposition(vectors, state - vectors.sum(0), state)


def parts(
    trace: Trace, keys: Sequence[int], *, tower: str | None = None, item: int = 0
) -> Iterator[Float[Tensor, "query dim"]]:
    """The part of each of some input tokens in the last hidden state of every token, one by one.

    Arguments and errors as for `decompx`.
    """
    name = _tower(trace, tower)
    if any(site.kind == "cross" and site.tower == name for site in trace.sites):
        raise ValueError(
            "DecompX follows one tower: the parts of a decoder that reads an encoder would leave"
            " out what the encoder gives"
        )
    if trace.origin is None:
        raise ValueError("expected a trace whose network is there to run again")
    trace.hidden(0, item, tower=name)  # which says why there are none
    held = trace.hidden_states[name]
    first, last = held.states[0], held.states[_depth(trace, tower)]
    places = held.axes[0].positions_of(item).to(first.device)
    for key in keys:
        part = torch.zeros_like(first)
        part[item, places[key]] = first[item, places[key]]
        carried = trace.origin.carried(first, part, last)
        if carried is None:
            raise ValueError(
                f"{trace.model}: expected a pass that repeats the hidden states of the trace"
            )
        yield carried[item, places].float()


def _tower(trace: Trace, tower: str | None) -> str | None:
    return self_attention(trace, tower)[0].tower


def _depth(trace: Trace, tower: str | None) -> int:
    return len(self_attention(trace, tower))
