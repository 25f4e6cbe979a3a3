"""What SmolLM2 sees and predicts under a mask whose edges move, in our own code."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.lessons import real
from viz.lessons.decoder import parts
from viz.lessons.inputs import InputError

if TYPE_CHECKING:
    from models.lessons.mask_edge import Seen

MODEL = "smollm2"
ENDS = (".", "")  # of a sentence: the token without its spaces


@real.of(MODEL)
def continued(text: str, longest: int, most: int) -> dict[str, Any]:
    """The start of a text and what the network writes after it, to the end of the sentence.

    Args:
        text: the start.
        longest: number of tokens that the start may have.
        most: number of tokens in all.

    Raises:
        InputError: for a start that is too short or too long.
    """
    import torch

    from models.decode import greedy

    network, tokenizer = _opened()
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


@real.of(MODEL)
def read(
    ids: tuple[int, ...], window: int, ahead: int, layer: int, head: int, narrow: int
) -> dict[str, Any]:
    """Weights of a head and predictions at every position, under a mask.

    Args:
        ids: of the text.
        window: see `Band`.
        ahead: see `Band`.
        layer: of the weights.
        head: of the weights.
        narrow: window whose effect is named where the mask is causal.
    """
    import torch

    tokenizer = _opened()[1]
    text = torch.tensor(ids)
    seen = _seen(ids, window, ahead)
    whole, now, few = (
        each.of_answers(text) for each in (_seen(ids, len(ids), 0), seen, _seen(ids, narrow, 0))
    )

    def name(id: int) -> str:
        return real.word(tokenizer.text([id]))

    names = [*map(name, ids)]
    return {
        "tokens": names,
        **parts.weights(seen, layer, head),
        **parts.predictions(seen, text, name),
        "fell": parts.fell(whole, now, few, names),
    }


@lru_cache(maxsize=32)
def _seen(ids: tuple[int, ...], window: int, ahead: int) -> "Seen":
    """One pass over these tokens."""
    import torch

    from models.lessons import mask_edge

    return mask_edge.predicted(_opened()[0], torch.tensor(ids), mask_edge.Band(window, ahead))


def _opened() -> Any:
    """The network in our own code, and its tokenizer."""
    model = real.opened(MODEL, "own")
    return model.network, model.tokenizer
