"""What a relevance explains: one number of an output, a logit or a similarity, as a value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from models.run import Model, trace
from models.trace import Output, Tokens, Trace

MASKS = ("[MASK]", "<mask>", "<MASK>")
EMBEDDINGS = ("hidden states", "embedding")


@dataclass(frozen=True, eq=False)
class Target:
    """One number of an output.

    Attributes:
        id: of the token or class; None is the likeliest, until `choose` has told which.
        position: of the token whose logits are read, among the item's own tokens; None is the
            masked word or else the last token, until `choose` has told which, and for an output
            without a token axis.
        item: index in the batch.
        other: an embedding of unit length; the number is the cosine similarity to it.
        among: ids over which probabilities sum to 1: the classes of one of several questions.
            None means all.
        independent: whether each class has a sigmoid of its own, as where an input may belong to
            several.
    """

    id: int | None = None
    position: int | None = None
    item: int = 0
    other: Tensor | None = None
    among: range | None = None
    independent: bool = False

    def score(self, output: Output) -> Tensor:
        """The logit, or the cosine similarity from −1 to 1.

        Raises:
            ValueError: for a position or an id that is not there.
        """
        if self.other is not None:
            return embedding_of(output, self.item) @ self.other
        logits = self.logits(output)
        if self.id is None:
            return logits.max()
        if not 0 <= self.id < len(logits):
            raise ValueError(f"target: expected an id 0 to {len(logits) - 1}, received {self.id}")
        return logits[self.id]

    def probability(self, output: Output) -> Tensor:
        """The probability by softmax or sigmoid, or the cosine similarity."""
        if self.other is not None:
            return self.score(output)
        logits = self.logits(output).float()
        id = int(logits.argmax()) if self.id is None else self.id
        if self.independent:
            return logits[id].sigmoid()
        if len(logits) == 1:
            return logits[0]
        if self.among is None or id not in self.among:
            return torch.softmax(logits, -1)[id]
        return torch.softmax(logits[self.among.start : self.among.stop], -1)[id - self.among.start]

    def logits(self, output: Output) -> Tensor:
        """The logits of all tokens or classes where this one is read.

        Raises:
            ValueError: for an output without any, and a position that is not there.
        """
        if output.name in EMBEDDINGS:
            raise ValueError(
                f"the model gives {output.name}, no logits: expected a second text as the target,"
                " to whose embedding the similarity is explained"
            )
        if output.values.ndim not in (2, 3):
            raise ValueError(f"expected logits of tokens or classes, received {output.name}")
        if output.values.ndim == 2:
            return output.values[self.item]
        try:
            return output.row(-1 if self.position is None else self.position, self.item)
        except ValueError as error:
            raise ValueError(f"target: {error}") from error


def choose(
    model: Model, input: Any, target: Any, *, written: Any = None, among: range | None = None
) -> Target:
    """What a target means for a model and an input, told by a forward pass.

    Args:
        model: that reads the input.
        input: of the trace.
        target: an id of a token or a class; a pair (position, id); a text: the name of a class, a
            token of the vocabulary, or for a model without logits a second sentence (or picture),
            to whose embedding the similarity is taken; None: the likeliest token or class. A
            `Target` where the item or more than one of these is chosen.
        written: what the decoder of an encoder–decoder reads, as `target` of `trace`.
        among: the classes of the question that the target answers; None means all.

    Raises:
        ValueError: for a text that is no class or more than one token, no target without logits,
            and positions, ids and items that are not there.
    """
    with torch.no_grad():
        whole = trace(model, input, written)
    return target_in(model, whole, target, among=among)


def target_in(model: Model, whole: Trace, target: Any, *, among: range | None = None) -> Target:
    """What a target means in a trace; arguments and errors as for `choose`."""
    asked = _asked(model, whole.output, target)
    if not 0 <= asked.item < len(whole.tokens):
        raise ValueError(f"item: expected 0 to {len(whole.tokens) - 1}, received {asked.item}")
    if asked.other is not None:
        return asked
    if among is not None:
        asked = replace(asked, among=among)
    asked = replace(asked, independent=model.multi_label and whole.output.values.ndim == 2)
    asked = replace(asked, position=_position(model, whole, asked))
    if asked.id is None:
        logits = asked.logits(whole.output)
        some = range(len(logits)) if asked.among is None else asked.among
        asked = replace(asked, id=some.start + int(logits[some.start : some.stop].argmax()))
    asked.score(whole.output)
    return asked


def position_of(tokens: Tokens, mask: int | None) -> int:
    """Where a model that gives logits of tokens answers: at the first masked word, else the last.

    Args:
        tokens: of the output.
        mask: id of the mask token; None for a model without.
    """
    return tokens.ids.index(mask) if mask in tokens.ids else len(tokens) - 1


def mask_id(model: Model) -> int | None:
    """The id of the mask token: the only special one that its own name is read as."""
    if model.tokenizer is None:
        return None
    for name in MASKS:
        tokens = model.tokenizer.encode(name)
        pairs = zip(tokens.ids, tokens.labels, tokens.special, strict=True)
        masks = [id for id, label, special in pairs if special and label == name]
        if len(masks) == 1:
            return masks[0]
    return None


def embedding_of(output: Output, item: int = 0) -> Tensor:
    """The mean of the hidden states of an item's tokens, or its embedding, with length 1.

    Raises:
        ValueError: for an output with logits.
    """
    if output.name not in EMBEDDINGS:
        raise ValueError(
            f"similarity: expected hidden states or an embedding, received {output.name}"
        )
    values = output.of_item(item)
    values = values.mean(0) if values.ndim == 2 else values
    return values / values.norm()


def class_names(model: Model, count: int) -> tuple[str, ...]:
    """A name for each of a number of classes: the model's own where it names them all."""
    named = len(model.classes) == count
    return model.classes if named else tuple(f"class {each}" for each in range(count))


def _asked(model: Model, output: Output, target: Any) -> Target:
    """A target of whatever form, before its position and likeliest id are told."""
    if isinstance(target, Target):
        return target
    if target is None or isinstance(target, int):
        return Target(target)
    if isinstance(target, tuple):
        position, id = target
        return Target(id, position)
    if output.name in EMBEDDINGS:
        with torch.no_grad():
            return Target(other=embedding_of(trace(model, target).output).detach())
    if isinstance(target, str) and output.values.ndim == 2:
        names = class_names(model, output.values.shape[-1])
        return Target(_class(names, target))
    if not isinstance(target, str) or model.tokenizer is None:
        raise ValueError(f"target: expected an id, received {target!r}")
    if target in model.classes:
        return Target(model.classes.index(target))
    tokens = (model.target_tokenizer or model.tokenizer).encode(target)
    ids = [id for id, special in zip(tokens.ids, tokens.special, strict=True) if not special]
    if len(ids) != 1:
        raise ValueError(f"target: expected one token, {target!r} is {len(ids)}")
    return Target(ids[0])


def _class(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise ValueError(f"target: expected a class such as {names[0]!r}, received {name!r}")
    return names.index(name)


def _position(model: Model, whole: Trace, asked: Target) -> int | None:
    """Of the token whose logits are read, counted from the first; None without a token axis."""
    output = whole.output
    if output.values.ndim != 3:
        return None
    tokens = whole.tokens if whole.target_tokens is None else whole.target_tokens
    count = output.missing(asked.item) + len(output.of_item(asked.item))
    if asked.position is not None:
        return asked.position % count if -count <= asked.position < count else asked.position
    mask = None if whole.target_tokens is not None else mask_id(model)
    found = position_of(tokens[asked.item], mask)
    return found if found < count else count - 1
