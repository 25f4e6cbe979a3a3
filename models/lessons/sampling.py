"""How the next token is drawn, and what a key–value cache saves.

    temperature   softmax(logits / T)
    top-k         only the k most likely tokens
    top-p         only the smallest set of most likely tokens whose probability reaches p

Sources: Fan et al. 2018 (top-k), Holtzman et al. 2020 (top-p, nucleus sampling).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.decoder import DecoderConfig


def next_probabilities(
    logits: Float[Tensor, " vocab"], *, temperature: float = 1.0, k: int = 0, p: float = 1.0
) -> Float[Tensor, " vocab"]:
    """Probabilities by which the next token is drawn: first temperature, then top-k, then top-p.

    Args:
        logits: of the next token.
        temperature: positive; below 1 sharper, above 1 flatter.
        k: how many tokens are kept; 0 for all.
        p: how much probability is kept at least; 1 for all.
    """
    if temperature <= 0:
        raise ValueError(f"temperature: expected a positive number, received {temperature}")
    scores = logits / temperature
    if k:
        scores = _only(scores, scores.argsort(descending=True, stable=True)[:k])
    if p < 1:
        order = scores.argsort(descending=True, stable=True)
        shares = scores.softmax(-1)[order]
        before = shares.cumsum(-1) - shares  # probability of all tokens that are more likely
        scores = _only(scores, order[before < p])
    return scores.softmax(-1)


def _only(scores: Tensor, kept: Tensor) -> Tensor:
    return torch.full_like(scores, -torch.inf).index_copy(0, kept, scores[kept])


def draws(
    probabilities: Float[Tensor, " vocab"], count: int, *, seed: int = 0
) -> Int[Tensor, " vocab"]:
    """How often each token comes in so many independent draws."""
    chance = torch.Generator().manual_seed(seed)
    drawn = torch.multinomial(probabilities, count, replacement=True, generator=chance)
    return drawn.bincount(minlength=len(probabilities))


@dataclass(frozen=True)
class StepCost:
    """Cost of one generated token.

    Attributes:
        multiplications: in the blocks, and in the logits of the last position.
        kept: numbers in the key–value cache after the step.
    """

    multiplications: int
    kept: int


def step_cost(config: DecoderConfig, tokens: int, *, cached: bool) -> StepCost:
    """The cost of generating one token after a text.

    In each block, of width d with a hidden layer of width m: 4 d² + 2 d m for each token that is
    worked out, and 2 d for each of its queries' keys, masked ones included. A cache leaves one
    token to work out instead of all.

    Args:
        config: its heads together must be as wide as the model.
        tokens: length of the text that is read.
        cached: whether keys and values of all tokens but the last are kept from earlier steps.
    """
    width = config.dim
    new = 1 if cached else tokens
    block = new * (4 * width**2 + 2 * width * config.mlp) + 2 * new * tokens * width
    kept = 2 * config.depth * tokens * width if cached else 0
    return StepCost(config.depth * block + width * config.vocab, kept)
