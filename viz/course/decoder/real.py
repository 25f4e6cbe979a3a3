"""What SmolLM2 sees and predicts under a mask whose edges move, in our own code."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.course import real
from viz.course.decoder import parts
from viz.course.writing import goes_on

if TYPE_CHECKING:
    from models.lessons.mask_edge import Seen

MODEL = "smollm2"


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
    network, tokenizer = _opened()
    return goes_on(network, tokenizer, text, longest, most)


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
