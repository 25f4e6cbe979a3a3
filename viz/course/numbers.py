"""What several lessons compute: a head and a block, step by step, and what a decoder writes."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from models.attention import Dot, Mask, Pattern
from models.attention.scores import softmax
from models.blocks import PostNormBlock, PreNormBlock
from models.decode import greedy
from viz.course import real

CAUSAL = Mask(causal=True)
LEAST = 0.01  # smaller sums of exponentials cannot be read with four decimals
Steps = list[tuple[str, Tensor]]  # "x", "attention", "norm", "+" …, and what comes out


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


@torch.no_grad()
def block_steps(
    block: PostNormBlock | PreNormBlock, x: Tensor, *, without: Collection[str] = ()
) -> Steps:
    """The input and the result of every step of a block; the last is the output.

    Args:
        block: whose steps are taken.
        x: its input, "batch token dim".
        without: layers whose output is replaced by zeros: "attention", "feed-forward".
    """

    def kept(name: str, out: Tensor) -> Tensor:
        return torch.zeros_like(out) if name in without else out

    if isinstance(block, PreNormBlock):
        read = block.before_attention(x)
        attended = kept("attention", block.attention(read)[0])
        between = x + attended
        again = block.before_feed_forward(between)
        fed = kept("feed-forward", block.feed_forward(again))
        states = [x, read, attended, between, again, fed, between + fed]
        names = ("x", "norm", "attention", "+", "norm", "feed-forward", "+")
    else:
        attended = kept("attention", block.attention(x)[0])
        normed = block.after_attention(x, attended)
        fed = kept("feed-forward", block.feed_forward(normed))
        out = block.after_feed_forward(normed, fed)
        states = [x, attended, x + attended, normed, fed, normed + fed, out]
        names = ("x", "attention", "+", "norm", "feed-forward", "+", "norm")
    return list(zip(names, states, strict=True))


@torch.no_grad()
def decoder_steps(
    block: PreNormBlock, x: Tensor, context: Tensor, *, without: Collection[str] = ()
) -> Steps:
    """The same of a decoder block, which reads what the encoder returned, too."""
    steps: Steps = [("x", x)]
    layers = (
        ("attention", block.before_attention, lambda y: block.attention(y, mask=CAUSAL)[0]),
        ("cross-attention", block.before_cross, lambda y: block.cross(y, context)[0]),
        ("feed-forward", block.before_feed_forward, block.feed_forward),
    )
    for name, norm, layer in layers:
        read = norm(x)
        added = layer(read)
        if name in without:
            added = torch.zeros_like(added)
        x = x + added
        steps += [("norm", read), (name, added), ("+", x)]
    return steps


def goes_on(
    network: Any, ids: list[int], most: int, ends: Callable[[int], bool]
) -> tuple[list[int], float]:
    """A text and what a decoder writes after it, and what a cache of keys and values changes.

    Args:
        network: in eval mode.
        ids: of the start.
        most: number of tokens in all.
        ends: whether a token ends the sentence, and so the text.

    Returns:
        The ids, and the largest difference of a probability with and without a cache.
    """
    cached, plain = (
        [*greedy(network, torch.tensor([ids]), limit=most - len(ids), cached=each)]
        for each in (True, False)
    )
    pairs = zip(cached, plain, strict=True)
    difference = max(float((a.probabilities - b.probabilities).abs().max()) for a, b in pairs)
    written = [int(step.ids[0]) for step in cached]
    count = next((n for n, id in enumerate(written, 1) if ends(id)), len(written))
    return [*ids, *written[:count]], difference


def smollm2_writes(text: str, longest: int, most: int) -> dict[str, Any]:
    """The start of a text and what SmolLM2 writes after it, to the end of the sentence."""
    model: Any = real.opened("smollm2", "own")
    ids = list(model.tokenizer.encode(text).ids)
    real.check(len(ids), 2, longest)

    def piece(id: int) -> str:
        return model.tokenizer.text([id])

    whole, difference = goes_on(model.network, ids, most, lambda id: piece(id).strip() in ("", "."))
    pieces = [*map(piece, whole)]
    return {"ids": whole, "pieces": pieces, "start": len(ids), "difference": difference}
