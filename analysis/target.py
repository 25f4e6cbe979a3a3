"""The number that a relevance explains: a token's logit, a class, a similarity."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from models.run import Model, trace
from models.trace import Output

MASKS = ("[MASK]", "<mask>", "<MASK>")
EMBEDDINGS = ("hidden states", "embedding")
Target = Any


@dataclass(frozen=True, eq=False)
class Chosen:
    """One number of an output.

    Attributes:
        position: of the token whose logits are read; None for an output without a token axis.
        id: of the token or class; None chooses the likeliest.
        other: an embedding of unit length; the number is the cosine similarity to it.
        among: ids over which probabilities sum to 1: the classes of one of several questions.
            None means all.
    """

    position: int | None = None
    id: int | None = None
    other: Tensor | None = None
    among: range | None = None

    def score(self, output: Output) -> Tensor:
        """The logit, or the cosine similarity from −1 to 1.

        Raises:
            ValueError: for a position or an id that is not there.
        """
        if self.other is not None:
            return embedding_of(output) @ self.other
        logits = self._logits(output)
        if self.id is None:
            return logits.max()
        if not 0 <= self.id < len(logits):
            raise ValueError(f"target: expected an id 0 to {len(logits) - 1}, received {self.id}")
        return logits[self.id]

    def probability(self, output: Output) -> Tensor:
        """The softmax probability, or the cosine similarity."""
        if self.other is not None:
            return self.score(output)
        logits = self._logits(output).float()
        if len(logits) == 1:
            return logits[0]
        id = int(logits.argmax()) if self.id is None else self.id
        if self.among is None or id not in self.among:
            return torch.softmax(logits, -1)[id]
        return torch.softmax(logits[self.among.start : self.among.stop], -1)[id - self.among.start]

    def resolved(self, output: Output) -> "Chosen":
        """The same with the likeliest id in place of None."""
        if self.other is not None or self.id is not None:
            return self
        logits = self._logits(output)
        first, last = (self.among.start, self.among.stop) if self.among else (0, len(logits))
        id = first + int(logits[first:last].argmax())
        return replace(self, id=id)

    def _logits(self, output: Output) -> Tensor:
        values = output.values[0]
        if output.name in EMBEDDINGS:
            raise ValueError(
                f"the model gives {output.name}, no logits: expected a second text as the target,"
                " to whose embedding the similarity is explained"
            )
        if values.ndim > 2:
            raise ValueError(f"expected logits of tokens or classes, received {output.name}")
        if values.ndim == 1:
            return values
        place = -1 if self.position is None else self.position
        if not -len(values) <= place < len(values):
            raise ValueError(
                f"target: expected a position 0 to {len(values) - 1}, received {self.position}"
            )
        return values[place]


def choose(model: Model, input: Any, target: Target) -> Chosen:
    """What a target means for a model and an input.

    Args:
        model: that reads the input.
        input: of the trace.
        target: an id of a token or a class; a pair (position, id); a text: a token of the
            vocabulary, or for a model without logits a second sentence (or picture), to whose
            embedding the similarity is taken; None: the likeliest token or class.

    Raises:
        ValueError: for a text that is more than one token, and no target without logits.
    """
    if isinstance(target, int):
        return Chosen(_masked(model, input), target)
    if isinstance(target, tuple):
        position, id = target
        return Chosen(position, id)
    if target is None:
        return Chosen(_masked(model, input))
    with torch.no_grad():
        output = trace(model, target).output
    if output.name in EMBEDDINGS:
        return Chosen(other=embedding_of(output).detach())
    if not isinstance(target, str) or model.tokenizer is None:
        raise ValueError(f"target: expected an id, received {target!r}")
    tokens = (model.target_tokenizer or model.tokenizer).encode(target)
    ids = [id for id, special in zip(tokens.ids, tokens.special, strict=True) if not special]
    if len(ids) != 1:
        raise ValueError(f"target: expected one token, {target!r} is {len(ids)}")
    return Chosen(_masked(model, input), ids[0])


def embedding_of(output: Output) -> Tensor:
    """The mean of the hidden states of the tokens, or an embedding, with length 1.

    Raises:
        ValueError: for an output with logits.
    """
    if output.name not in EMBEDDINGS:
        raise ValueError(
            f"similarity: expected hidden states or an embedding, received {output.name}"
        )
    values = output.values[0]
    values = values.mean(0) if values.ndim == 2 else values
    return values / values.norm()


def _masked(model: Model, input: Any) -> int | None:
    """The position of the masked word, if there is exactly one."""
    if not isinstance(input, str) or model.tokenizer is None:
        return None
    labels = model.tokenizer.encode(input).labels
    found = [place for place, label in enumerate(labels) if label in MASKS]
    return found[0] if len(found) == 1 else None
