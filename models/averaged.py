"""The mean of several traces with the same number of tokens, as one trace."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import log

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.attention import Dot, Pattern
from models.text import Tokens
from models.trace import Output, Trace


@dataclass(frozen=True, eq=False)
class MeanWeights:
    """An edit that makes weights the mean of those of several patterns.

    Attributes:
        patterns: of one site, one a pass.
    """

    patterns: tuple[Pattern, ...]

    def edit_weights(
        self,
        weights: Float[Tensor, "head row key"],
        heads: Sequence[int],
        rows: Int[Tensor, " row"],
        pattern: Pattern,
        item: int,
    ) -> Float[Tensor, "head row key"]:
        """The mean in place of the weights; sums in float32."""
        means = [
            torch.stack([each.weights(head, rows, item=item) for each in self.patterns]).mean(0)
            for head in heads
        ]
        return torch.stack(means).to(weights)


def averaged(traces: Sequence[Trace]) -> Trace:
    """The mean of the weights of each head, and of the scores, over passes of one text each.

    The output is the logarithm of the mean probability of each token, under the name of logits:
    their softmax is the mean of the probabilities. Of classes, which may have a sigmoid each, it is
    the mean of the logits, and named so; of anything else the mean.
    Tokens that are the same in all passes keep their labels; others are numbered, with negative ids
    that repeat nowhere. What needs the network or its hidden states is not there.

    Raises:
        ValueError: for no trace, passes of several texts, an encoder–decoder, and sites or tokens
            whose numbers differ.
    """
    if not traces:
        raise ValueError("mean: expected at least one trace, received none")
    first = traces[0]
    if any(len(each.tokens) != 1 or each.target_tokens is not None for each in traces):
        raise ValueError("mean: expected passes of one text each, without a target")
    counts = sorted({len(each.tokens[0]) for each in traces})
    if len(counts) > 1:
        raise ValueError(
            f"mean: expected the same number of tokens, received {counts[0]} to {counts[-1]}"
        )
    if any(each.sites != first.sites or not _between_tokens(each) for each in traces):
        raise ValueError("mean: expected the same layers in every pass, between tokens of the text")
    patterns = zip(*(each.patterns for each in traces), strict=True)
    return replace(
        first,
        tokens=(_common([each.tokens[0] for each in traces]),),
        patterns=tuple(map(_mean, patterns)),
        output=_mean_output([each.output for each in traces]),
        notes=(f"the mean of {len(traces)} prompts", *first.notes),
        hidden_states={},
        axes={},
        origin=None,
        answer=None,
    )


def _mean_output(outputs: Sequence[Output]) -> Output:
    first, values = outputs[0], [each.values for each in outputs]
    if first.name == "logits" and first.values.ndim == 3:
        total = reduce(torch.logaddexp, (each.float().log_softmax(-1) for each in values))
        return replace(first, values=total - log(len(outputs)))
    name = "mean logits" if first.name == "logits" else first.name
    return replace(first, name=name, values=torch.stack(values).mean(0))


def is_mean(trace: Trace) -> bool:
    """Whether a trace is the mean of several: its queries and keys, and values, mean nothing."""
    return any(isinstance(edit, MeanWeights) for edit in trace.patterns[0].weights_edits)


def _between_tokens(trace: Trace) -> bool:
    """Whether every site attends from the tokens of the text to the same tokens."""
    return all(
        side(site) == trace.tokens for site in trace.sites for side in (trace.queries, trace.keys)
    )


def _mean(patterns: tuple[Pattern, ...]) -> Pattern:
    """A recipe whose scores and weights are the means of those of several."""

    def scores(rows: Tensor) -> Tensor:  # a bias, to scores of 0
        return torch.stack([each.scores(rows=rows, item=0) for each in patterns]).mean(0)

    first = patterns[0]
    sizes = first.batch, first.heads, first.queries, first.k.shape[-1]
    return replace(
        first,
        q=first.q.new_zeros(sizes),
        score=Dot(sink=first.score.sink if isinstance(first.score, Dot) else None),
        bias=scores,
        temperature=None,
        weights_edits=(MeanWeights(patterns),),
        values_edits=(),
    )


def _common(texts: Sequence[Tokens]) -> Tokens:
    """The tokens that texts of one length have in common."""
    first = texts[0]
    same = [
        len({(each.ids[place], each.labels[place]) for each in texts}) == 1
        for place in range(len(first))
    ]
    numbered = list(enumerate(same))
    return replace(
        first,
        ids=tuple(first.ids[place] if common else -1 - place for place, common in numbered),
        labels=tuple(
            first.labels[place] if common else f"token {place}" for place, common in numbered
        ),
        special=tuple(first.special[place] and common for place, common in numbered),
        spans=(None,) * len(first),
        texts=tuple(
            first.texts[place] if common else f" token {place}" for place, common in numbered
        ),
    )
