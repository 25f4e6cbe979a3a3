"""How the next token is drawn (`models.output`), and what a key–value cache saves."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.decoder import DecoderConfig
from models.output import next_probabilities as next_probabilities


def draws(probabilities: Float[Tensor, " vocab"], count: int) -> Int[Tensor, " vocab"]:
    """How often each token comes in so many independent draws."""
    chance = torch.Generator().manual_seed(0)
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

    In each block, of width d, with keys of width s in all heads and a hidden layer of width m:
    2 d² + 2 d s + 2 d m (3 d m with a gate) for each token that is worked out, and 2 d for each of
    its queries' keys, masked ones included. A cache leaves one token to work out instead of all.

    Args:
        config: its heads together must be as wide as the model.
        tokens: length of the text that is read.
        cached: whether keys and values of all tokens but the last are kept from earlier steps.
    """
    width = config.dim
    shared = width * (config.kv_heads or config.heads) // config.heads
    new = 1 if cached else tokens
    matrices = 2 * width * (width + shared) + (3 if config.gated else 2) * width * config.mlp
    block = new * matrices + 2 * new * tokens * width
    kept = 2 * config.depth * tokens * shared if cached else 0
    return StepCost(config.depth * block + width * config.vocab, kept)
