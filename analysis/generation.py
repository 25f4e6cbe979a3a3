"""Generation, step by step: what a decoder writes, and what each step attends to.

Attention is causal: the row of a token is the same in the pass that wrote the token after it and in
one pass over the whole text. So one trace, made when the text is there, shows every step; but not
under edits that depend on all tokens, such as a mean over them (`edits.reads_all_tokens`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Edit
from models.inputs.generation import reader_of, rules_of
from models.output import Sampling, next_probabilities
from models.progress import Progress, no_progress
from models.run import Model, as_model, trace
from models.trace import Trace


@dataclass(frozen=True, eq=False)
class Written:
    """A text that a model went on with.

    Attributes:
        model: that wrote it.
        begun: ids of the tokens that it began from.
        ids: of the written tokens.
        probabilities: of each written token, by the distribution that it was drawn from.
        edits: of every step.
    """

    model: Model
    begun: tuple[int, ...]
    ids: tuple[int, ...]
    probabilities: tuple[float, ...]
    edits: Sequence[Edit] = ()

    @cached_property
    def trace(self) -> Trace:
        """Of the whole text: the row of the token before a written one shows what its step attended
        to."""
        return _pass(self.model, (*self.begun, *self.ids), self.edits)


def continue_text(
    model: Model | Any,
    input: Any,
    count: int,
    *,
    sampling: Sampling | None = None,
    seed: int = 0,
    end: int | None = None,
    edits: Sequence[Edit] = (),
    progress: Progress = no_progress,
) -> Written:
    """Continues a text with a decoder.

    Args:
        model: a decoder, from `load` or a network.
        input: a text, or ids of one item.
        count: at most so many tokens; fewer where the model has no more room.
        sampling: how tokens are drawn; None takes the likeliest each time.
        seed: of the draws.
        end: the id after which nothing more is written; None for those of the checkpoint's
            generation config, whose other rules hold as well, as in `generate` of transformers.
        edits: interventions in every step. Without any, keys and values of earlier steps are used
            again; with edits each step is a pass of its own.
        progress: called with the number of written tokens and of all.

    Returns:
        The written tokens; their trace is made when it is asked for.

    Raises:
        ValueError: for another network than a decoder, several items, and no room for a token.
    """
    model = as_model(model)
    read = None if edits else reader_of(model)
    begun = trace(model, input, edits=edits)
    kinds = {site.kind for site in begun.sites}
    if begun.target_tokens is not None or "causal" not in kinds:
        raise ValueError(f"{model.name} is no decoder: expected a model that goes on with a text")
    if kinds != {"causal"}:
        raise ValueError("input: expected a text alone: what is beside it is not read at each step")
    if len(begun.tokens) != 1:
        raise ValueError(f"input: expected one text, received {len(begun.tokens)}")
    ids = list(begun.tokens[0].ids)
    given, room = len(ids), model.limit - len(ids)
    if count < 1 or room < 1:
        raise ValueError(f"count: expected at least 1, with room for {room}, received {count}")
    total, chosen = min(count, room), list[float]()
    rules = rules_of(model, torch.tensor(ids), total)
    ends = (end,) if end is not None else () if rules is None else rules.ends
    dice = torch.Generator().manual_seed(seed)
    for step in range(total):
        progress(step, total)
        if read is not None:
            logits = read(torch.tensor(ids)).float()
        else:
            t = begun if step == 0 else _pass(model, ids, edits, logits_to_keep=1)
            logits = t.output.logits_of()
        if rules is not None:
            logits = rules.scores(torch.tensor(ids), logits)
        id, probability = _drawn(logits.cpu(), sampling, dice)
        ids.append(id)
        chosen.append(probability)
        if id in ends:
            break
    progress(len(chosen), len(chosen))
    return Written(model, tuple(ids[:given]), tuple(ids[given:]), tuple(chosen), edits)


def received(t: Trace, rows: Sequence[int]) -> Float[Tensor, "step key"]:
    """The weight that each token in the cache receives from each step: its mean over all heads."""
    means = [
        torch.stack([t.weights(site, head, rows=rows) for head in range(site.heads)]).mean(0)
        for site in t.sites
    ]
    return torch.stack(means).mean(0)


def _pass(model: Model, ids: Sequence[int], edits: Sequence[Edit], **options: Any) -> Trace:
    return trace(model, torch.tensor([ids]), edits=edits, **options)


def _drawn(
    logits: Float[Tensor, " vocab"], sampling: Sampling | None, dice: torch.Generator
) -> tuple[int, float]:
    """The id of a token and its probability."""
    if sampling is None:
        id = int(logits.argmax())
        return id, float(logits.softmax(-1)[id])
    how = {"temperature": sampling.temperature, "k": sampling.top_k, "p": sampling.top_p}
    probabilities = next_probabilities(logits, **how)
    id = int(torch.multinomial(probabilities, 1, generator=dice))
    return id, float(probabilities[id])
