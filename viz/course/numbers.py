"""What several lessons compute: a head, step by step, and what a decoder writes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from models.attention import Dot, Mask, Pattern
from models.attention.scores import softmax
from models.inputs.generation import reader_of
from models.model import Model
from viz.course import real

CAUSAL = Mask(causal=True)
LEAST = 0.01  # smaller sums of exponentials cannot be read with four decimals


def follow(pattern: Pattern, *, head: int = 0) -> dict[str, Tensor]:
    """Every step of one head for the first item: q·k → scores → exp → weights → output.

    Returns:
        By name, "query key" but where it says otherwise: `products` q·k, unscaled; `scores` before
        masking; `exponentials` exp(masked score − shift), the numerators of the softmax; their
        `shifts` and `sums` "query"; `weights`; and `values` "query dim", the output.
    """
    unmasked = replace(pattern, mask=Mask(), weights_edits=())
    products = replace(unmasked, score=Dot(scale=1.0), bias=None, temperature=None)
    exps, shifts = exponentials(pattern.scores(head, item=0))
    weights = pattern.weights(head, item=0)
    return {
        "products": products.scores(head, item=0),
        "scores": unmasked.scores(head, item=0),
        "exponentials": exps,
        "shifts": shifts[:, 0],
        "sums": exps.sum(-1),
        "weights": weights,
        "values": weights @ pattern.v[0, head * pattern.v.shape[1] // pattern.heads].float(),
    }


def exponentials(scores: Tensor) -> tuple[Tensor, Tensor]:
    """exp(score − shift) and the shift of each row.

    The shift is usually 0. Where a row's exponentials would overflow or be too small to read, it
    is the row's largest score; it cancels out in the weights.
    """
    sums = scores.exp().sum(-1, keepdim=True)
    largest = scores.amax(-1, keepdim=True)
    unreadable = (sums.isinf() | (sums < LEAST)) & largest.isfinite()
    shift = largest.where(unreadable, torch.zeros_like(largest))
    return (scores - shift).exp(), shift


def softened(scores: Tensor, temperature: float = 1.0) -> Tensor:
    """Weights of one query: softmax(scores / temperature)."""
    return softmax(scores[None, None, None] / temperature)[0, 0, 0]


def goes_on(
    model: Model, ids: list[int], most: int, ends: Callable[[int], bool]
) -> tuple[list[int], float]:
    """A text and what a decoder writes after it, and what a cache of keys and values changes.

    Args:
        model: with a decoder of ours.
        ids: of the start.
        most: number of tokens in all.
        ends: whether a token ends the sentence, and so the text.

    Returns:
        The ids, and the largest difference of a probability with and without a cache.
    """
    read, whole, difference = reader_of(model), [*ids], 0.0
    with torch.no_grad():
        while len(whole) < most:
            cached, plain = read(torch.tensor(whole)), model.network(torch.tensor([whole])).logits
            change = cached.softmax(-1) - plain[0, -1].softmax(-1)
            difference = max(difference, float(change.abs().max()))
            whole.append(int(cached.argmax()))
    count = next((n for n, id in enumerate(whole[len(ids) :], 1) if ends(id)), most)
    return whole[: len(ids) + count], difference


def smollm2_writes(text: str, longest: int, most: int) -> dict[str, Any]:
    """The start of a text and what SmolLM2 writes after it, to the end of the sentence."""
    model: Any = real.opened("smollm2")
    ids = list(real.encoded("smollm2", text, 2, longest).ids)

    def piece(id: int) -> str:
        return model.tokenizer.text([id])

    whole, difference = goes_on(model, ids, most, lambda id: piece(id).strip() in ("", "."))
    pieces = [*map(piece, whole)]
    return {"ids": whole, "pieces": pieces, "start": len(ids), "difference": difference}
