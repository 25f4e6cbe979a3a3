"""Decoders that continue a text: a small trained one, and pretrained ones."""

from functools import lru_cache
from typing import Any, NamedTuple

from viz.course.inputs import InputError
from viz.course.trained import encoded, trained

MODEL = "grammar-next"
END = "."
ENDS = (END, "")  # of a sentence: a token without its spaces


class Written(NamedTuple):
    """A text as the network goes on with it.

    Attributes:
        ids: the start, then what was written.
        start: number of tokens of the start.
        difference: largest difference of a probability with and without cached keys and values.
    """

    ids: tuple[int, ...]
    start: int
    difference: float


@lru_cache(maxsize=256)
def written(text: str, longest: int, most: int) -> Written:
    """The start of a text and what the network writes after it, to the end of the sentence.

    Args:
        text: the start.
        longest: number of tokens that the start may have.
        most: number of tokens in all.

    Raises:
        InputError: for words that the network does not know, or too many of them.
    """
    import torch

    from models.decode import greedy

    model, card = trained(MODEL)
    unknown = [word for word in text.lower().split() if word not in card.tokens]
    if unknown:
        raise InputError(f"expected words such as king, dog, saw, the; received {unknown[0]!r}")
    ids = list(encoded(MODEL, text).ids)
    if not 2 <= len(ids) <= longest:
        raise InputError(f"expected 1 to {longest - 1} words, received {len(ids) - 1}")
    end, room = card.tokens.index(END), most - len(ids)
    runs = [
        list(greedy(model.network, torch.tensor([ids]), end=end, limit=room, cached=cached))
        for cached in (True, False)
    ]
    pairs = zip(*runs, strict=True)
    difference = max(float((a.probabilities - b.probabilities).abs().max()) for a, b in pairs)
    return Written((*ids, *(int(step.ids[0]) for step in runs[0])), len(ids), difference)


def label(token: str) -> str:
    """A token as a label: the begin symbol without its brackets."""
    return "begin" if token == "[BEGIN]" else token


def goes_on(network: Any, tokenizer: Any, text: str, longest: int, most: int) -> dict[str, Any]:
    """The start of a text and what a pretrained decoder writes, to the end of the sentence.

    Args:
        network: in our own code.
        tokenizer: of the network.
        text: the start.
        longest: number of tokens that the start may have.
        most: number of tokens in all.

    Raises:
        InputError: for a start that is too short or too long.
    """
    import torch

    from models.decode import greedy

    ids = list(tokenizer.encode(text).ids)
    start = len(ids)
    if not 2 <= start <= longest:
        raise InputError(f"expected 2 to {longest} tokens, received {start}")
    runs = [
        list(greedy(network, torch.tensor([ids]), limit=most - start, cached=cached))
        for cached in (True, False)
    ]
    pairs = zip(*runs, strict=True)
    difference = max(float((a.probabilities - b.probabilities).abs().max()) for a, b in pairs)
    ids += [int(step.ids[0]) for step in runs[0]]
    pieces = [tokenizer.text([id]) for id in ids]
    ends = [at + 1 for at in range(start, len(ids)) if pieces[at].strip() in ENDS]
    count = ends[0] if ends else len(ids)
    return {
        "ids": ids[:count],
        "pieces": pieces[:count],
        "start": start,
        "difference": difference,
    }
