"""The most likely tokens or classes of an output, their probabilities, and how they change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.target import default_position, kind_of, name_of
from models.output import Sampling, log_softmax, next_probabilities
from models.trace import Trace

if TYPE_CHECKING:
    from models.model import Model


@dataclass(frozen=True)
class Likeliest:
    """The most likely ids at one place of an output and their probabilities, in descending order.

    Attributes:
        place: position among the item's own tokens of the output; None for classes.
        ids: of tokens or classes.
        probabilities: from 0 to 1; over all ids they sum to 1, unless each has a sigmoid of its
            own.
        names: of the ids, as `predict` tells them; "" where the model does not.
    """

    place: int | None
    ids: tuple[int, ...]
    probabilities: tuple[float, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One a line, with its probability."""
        each = zip(self.names or self.ids, self.ids, self.probabilities, strict=True)
        return "\n".join(f"{name or id} {share:.4f}" for name, id, share in each)


def likeliest(
    trace: Trace,
    place: int = -1,
    *,
    count: int = 8,
    sampling: Sampling = Sampling(),
    independent: bool = False,
    item: int = 0,
) -> Likeliest:
    """The likeliest tokens at a position, or the likeliest classes of an item.

    The logits are those of the trace: another temperature, top-k or top-p needs no other pass.
    Ids that these leave out have probability 0 and are not listed.

    Args:
        trace: of a network with logits.
        place: position among the item's own tokens; negative values count from the last one.
            Classes have none.
        count: maximum number of ids.
        sampling: temperature, top-k and top-p.
        independent: whether each class has a sigmoid of its own, as where an item may be of
            several.
        item: index in the batch.

    Raises:
        ValueError: for a network without logits, and a position out of range.
    """
    row = trace.output.logits_of(place, item)
    if independent:
        probabilities = (row / sampling.temperature).sigmoid()
    else:
        given = sampling.temperature, sampling.top_k, sampling.top_p
        probabilities = next_probabilities(row, temperature=given[0], k=given[1], p=given[2])
    top = probabilities.topk(min(count, int((probabilities > 0).sum())))
    whose = None
    if trace.output.values.ndim == 3:
        whose = place % (trace.output.missing(item) + len(trace.output.of_item(item)))
    return Likeliest(whose, tuple(top.indices.tolist()), tuple(top.values.tolist()))


@dataclass(frozen=True)
class Change:
    """How a prediction differs between two passes.

    Attributes:
        kl: Kullback–Leibler divergence Σ p log(p / q) of the second prediction q from the first p,
            in nats: 0 where they are equal.
        ids: the likeliest of either pass, those of the first in order.
        before: probabilities of these ids in the first pass.
        after: in the second.
        names: of the ids, as `predict` tells them; "" where the model does not.
    """

    kl: float
    ids: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One a line, with its probabilities; then the divergence."""
        each = zip(self.names or self.ids, self.ids, self.before, self.after, strict=True)
        lines = [f"{name or id} {before:.4f} → {after:.4f}" for name, id, before, after in each]
        return "\n".join([*lines, f"KL {self.kl:.4f} nats"])


def change(
    before: Trace, after: Trace, place: int = -1, *, count: int = 8, item: int = 0
) -> Change:
    """How the prediction at a position, or of an item's classes, differs between two passes.

    Args:
        before: a trace of a network with logits.
        after: another of the same network.
        place: position among the item's own tokens; negative values count from the last one.
        count: number of the likeliest ids of each pass.
        item: index in the batch.

    Raises:
        ValueError: as `likeliest`, and for logits of different vocabularies.
    """
    rows = [trace.output.logits_of(place, item).double() for trace in (before, after)]
    if len(rows[0]) != len(rows[1]):
        raise ValueError(
            f"expected logits of one vocabulary, received {len(rows[0])}, {len(rows[1])}"
        )
    ids = list(
        dict.fromkeys(i for row in rows for i in row.topk(min(count, len(row))).indices.tolist())
    )
    shares = [tuple(row.softmax(-1)[ids].tolist()) for row in rows]
    return Change(divergence(*rows), tuple(ids), *shares)


def repeated(ids: Sequence[int]) -> range:
    """Places of the tokens at the end that came earlier in the same order; empty without two."""
    most = 0
    for end in range(1, len(ids)):
        same = 0
        while same < min(end, len(ids) - end) and ids[end - 1 - same] == ids[-1 - same]:
            same += 1
        most = max(most, same)
    return range(len(ids) - most, len(ids)) if most > 1 else range(0)


def repeat_loss(trace: Trace, *, item: int = 0) -> float | None:
    """The mean loss, in nats, over a repeat at the end of a decoder's text; None without one.

    The first token of the repeat does not count: nothing foretells that something comes again.

    Raises:
        ValueError: for a network without logits of tokens.
    """
    ids = trace.tokens[item].ids
    places = repeated(ids)[1:]
    if not places:
        return None
    rows = [log_softmax(trace.output.logits_of(place - 1, item).double()) for place in places]
    return -sum(float(row[ids[place]]) for row, place in zip(rows, places, strict=True)) / len(rows)


def divergence(first: Float[Tensor, " vocab"], second: Float[Tensor, " vocab"]) -> float:
    """Kullback–Leibler divergence, in nats, of the softmax of the second logits from the first."""
    p, q = log_softmax(first.double()), log_softmax(second.double())
    terms = p.exp() * (p - q)
    return max(0.0, float(terms[p > -torch.inf].sum()))


def class_probabilities(
    trace: Trace, sizes: Sequence[int], *, item: int = 0
) -> tuple[tuple[float, ...], ...]:
    """The class probabilities of an image: one softmax per question.

    Raises:
        ValueError: for a network without such logits, or sizes that do not match them.
    """
    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 2:
        raise ValueError(f"{trace.model} gives {trace.output.name}: expected logits of images")
    if sum(sizes) != logits.shape[1]:
        raise ValueError(f"sizes: expected {logits.shape[1]} in all, received {sum(sizes)}")
    parts = logits[item].float().split(list(sizes))
    return tuple(tuple(torch.softmax(part, -1).tolist()) for part in parts)


def top_ids(trace: Trace, *, item: int = 0) -> tuple[int, ...]:
    """The most likely id at each of an item's own tokens.

    Equal to the target, from its second token on, where the network generated it.
    """
    return tuple(trace.output.of_item(item).argmax(-1).tolist())


@dataclass(frozen=True)
class Vocabulary:
    """What the ids of an output stand for.

    Attributes:
        kind: "encoder", "decoder" or "seq2seq".
        name: of an id.
        place: of the token that is predicted or followed where none is chosen.
    """

    kind: str
    name: Callable[[int], str]
    place: int


def vocabulary_of(model: "Model", trace: Trace) -> Vocabulary | None:
    """Of any model; None if it predicts no tokens of its own tokenizer."""
    output = trace.output
    if kind_of(output) != "tokens" or not name_of(model, output, 0):
        return None
    if model.tokenizer is None and model.preprocessing is not None:
        return None  # a detector, whose rows of classes are those of boxes
    kind = "decoder" if any(site.kind == "causal" for site in trace.sites) else "encoder"
    kind = kind if trace.target_tokens is None else "seq2seq"
    return Vocabulary(kind, partial(name_of, model, output), default_position(model, trace))


def predict(
    model: "Model",
    trace: Trace,
    place: int | None = None,
    *,
    before: Trace | None = None,
    count: int = 8,
    sampling: Sampling = Sampling(),
    item: int = 0,
) -> Likeliest | Change:
    """The likeliest next tokens, masked words or classes of a trace, with their names.

    Args:
        model: that the trace is of.
        trace: of a network with logits.
        place: position among the item's own tokens; None is the masked word, else the last token.
        before: another pass of the same input, such as that without edits; the likeliest of
            either are then compared.
        count: maximum number of them, of each pass.
        sampling: temperature, top-k and top-p, for which the model does not run again; of one
            pass.
        item: index in the batch.

    Raises:
        ValueError: for a network without logits, and a position out of range.
    """
    tokens = kind_of(trace.output) == "tokens"
    if place is None:
        place = default_position(model, trace, item) if tokens else -1
    if before is not None:
        predictions = change(before, trace, place, count=count, item=item)
    else:
        alone = model.multi_label and not tokens
        how = {"sampling": sampling, "independent": alone, "item": item}
        predictions = likeliest(trace, place, count=count, **how)
    return replace(
        predictions, names=tuple(name_of(model, trace.output, id) for id in predictions.ids)
    )
