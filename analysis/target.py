"""What a relevance explains: one number of an output, a logit or a similarity, as a value.

As a text, which links, the shell and Python share, it is the name of a class or of a token, with
"@" and a position where that is not the masked word or else the last token: "pos", "mat", "mat@3".
An output whose ids have no names takes "position.id". A model without logits takes a second text.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from models.run import Model, trace
from models.text import Decoding
from models.trace import Output, Trace

Kind = Literal["tokens", "classes", "similarity", "nothing"]
UNNAMED = re.compile(r"LABEL_(\d+)")
PLACED = re.compile(r"(.+)@(\d+)", re.DOTALL | re.ASCII)
NUMBERED = re.compile(r"(\d+)\.(\d+)", re.ASCII)
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

    @property
    def is_explicit(self) -> bool:
        """Whether id and position are both known, or the target is another text."""
        return self.other is not None or None not in (self.id, self.position)

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
        logits = self.logits(output)
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
                f"the model gives {output.name}, no logits: expected a second text, picture or"
                " sequence of vectors as the target, to whose embedding the similarity is explained"
            )
        return output.logits_of(-1 if self.position is None else self.position, self.item)


def choose(model: Model, input: Any, target: Any, *, written: Any = None) -> Target:
    """Resolves a target for a model and an input, by a forward pass.

    Args:
        model: that reads the input.
        input: of the trace.
        target: an id of a token or a class; a pair (position, id); a text, see the module; for a
            model without logits a second text (or picture), to whose embedding the similarity is
            taken; None: the likeliest token or class. A `Target` where the item is chosen.
        written: what the decoder of an encoder–decoder reads, as `target` of `trace`.

    Raises:
        ValueError: for a text that is no class or more than one token, no target without logits,
            and positions, ids and items that are not there.
    """
    with torch.no_grad():
        whole = trace(model, input, written)
    return target_in(model, whole, target)


def target_in(model: Model, whole: Trace, target: Any) -> Target:
    """What a target means in a trace; arguments and errors as for `choose`."""
    asked = _asked(model, whole.output, target)
    if not 0 <= asked.item < len(whole.tokens):
        raise ValueError(f"item: expected 0 to {len(whole.tokens) - 1}, received {asked.item}")
    if asked.other is not None:
        return asked
    asked = replace(asked, independent=model.multi_label and whole.output.values.ndim == 2)
    asked = replace(asked, position=_position(model, whole, asked))
    if asked.among is None:
        asked = replace(asked, among=model.question_of(asked.id or 0))
    if asked.id is None:
        logits = asked.logits(whole.output)
        some = range(len(logits)) if asked.among is None else asked.among
        asked = replace(asked, id=some.start + int(logits[some.start : some.stop].argmax()))
    asked.score(whole.output)
    return asked


def default_position(model: Model, whole: Trace, item: int = 0) -> int:
    """The position that a language model predicts at: the first mask token, else the last token.

    Among the item's own tokens; of an encoder–decoder among those that the decoder read.
    """
    if whole.target_tokens is not None:
        return len(whole.target_tokens[item]) - 1
    tokens, mask = whole.tokens[item], mask_id(model)
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


def kind_of(output: Output) -> Kind:
    """What a relevance can explain about an output."""
    if output.name in EMBEDDINGS:
        return "similarity"
    if output.name != "logits" or output.values.ndim not in (2, 3):
        return "nothing"
    return "tokens" if output.values.ndim == 3 else "classes"


def text_of(model: Model, whole: Trace, chosen: Target) -> str:
    """A target as a text, from which `choose` makes the same one again."""
    if chosen.id is None:
        raise ValueError("target: expected a token or class, received a similarity")
    name = _text_of_id(model, whole.output, chosen.id)
    if not name:
        return f"{chosen.position or 0}.{chosen.id}"
    usual = _position(model, whole, replace(chosen, position=None))
    placed = chosen.position != usual or bool(PLACED.fullmatch(name))
    return f"{name}@{chosen.position}" if placed and chosen.position is not None else name


def name_of(model: Model, output: Output, id: int) -> str:
    """The name of a token or class; "" where the model does not tell."""
    if names := _classes(model, output):
        return names[id]
    reader = _reader(model, output.values.shape[-1])
    return "" if reader is None else reader.name(id)


def id_of(model: Model, output: Output, name: str) -> int:
    """The id of a token or class with a name, or a string of the vocabulary.

    Raises:
        ValueError: where there is none, or a text is more than one token.
    """
    if names := _classes(model, output):
        if name not in names:
            raise ValueError(f"target: expected a class such as {names[0]!r}, received {name!r}")
        return names.index(name)
    reader = model.target_tokenizer or model.tokenizer
    if reader is None:
        raise ValueError(f"target: expected an id, received {name!r}")
    tokens = reader.encode(name)
    ids = [id for id, special in zip(tokens.ids, tokens.special, strict=True) if not special]
    if len(ids) == 1 and ids[0] != getattr(reader, "unknown_id", None):
        return ids[0]
    words, count = reader.words if isinstance(reader, Decoding) else {}, output.values.shape[-1]
    match = next((id for id, word in words.items() if word == name and id < count), None)
    if match is not None:
        return match
    if len(ids) == 1:
        raise ValueError(f"target: {name!r} is not in the vocabulary")
    raise ValueError(f"target: expected one token, {name!r} is {len(ids)}")


def _classes(model: Model, output: Output) -> tuple[str, ...]:
    """A name for each class: the model's own where it names them all; () for tokens."""
    count = output.values.shape[-1]
    if len(model.classes) == count:
        return model.classes
    return tuple(f"class {each}" for each in range(count)) if kind_of(output) == "classes" else ()


def _asked(model: Model, output: Output, target: Any) -> Target:
    """A target in any accepted form, not yet resolved: position and likeliest id may be None."""
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
    if not isinstance(target, str):
        raise ValueError(f"target: expected an id or a text, received {target!r}")
    return _named(model, output, target)


def _named(model: Model, output: Output, text: str) -> Target:
    """A token or class by name, and perhaps a position."""
    placed = PLACED.fullmatch(text) if output.values.ndim == 3 else None
    try:
        if unnamed := UNNAMED.fullmatch(text):  # as transformers calls classes without names
            return Target(int(unnamed[1]))
        if placed is None:
            return Target(id_of(model, output, text))
        return Target(id_of(model, output, placed[1]), int(placed[2]))
    except ValueError:
        numbered = NUMBERED.fullmatch(text)
        if numbered is None:
            raise
        return Target(int(numbered[2]), int(numbered[1]))


def _text_of_id(model: Model, output: Output, id: int) -> str:
    """The name of an id if it alone has that name, else its string in the vocabulary."""
    name = name_of(model, output, id).strip()
    reader = model.target_tokenizer or model.tokenizer
    if kind_of(output) == "classes" or not name or not isinstance(reader, Decoding):
        return name
    try:
        if id_of(model, output, name) == id:
            return name
    except ValueError:
        pass  # the name is a part of a word, or of a character
    return reader.words.get(id, "")


def _reader(model: Model, count: int) -> Decoding | None:
    """The tokenizer whose ids an output has a logit for each of; None if there is none."""
    reader, config = model.target_tokenizer or model.tokenizer, model.network.config
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    sizes = [getattr(config, name, None) for name in ("vocab_size", "vocab", "target_vocab")]
    return reader if isinstance(reader, Decoding) and count in sizes else None


def _position(model: Model, whole: Trace, asked: Target) -> int | None:
    """Of the token whose logits are read, counted from the first; None without a token axis."""
    output = whole.output
    if output.values.ndim != 3:
        return None
    count = output.missing(asked.item) + len(output.of_item(asked.item))
    if asked.position is not None:
        return asked.position % count if -count <= asked.position < count else asked.position
    return min(default_position(model, whole, asked.item), count - 1)
