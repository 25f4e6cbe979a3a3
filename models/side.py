"""What an axis of attention weights stands for, and which of it is padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.text import Tokens


@dataclass(frozen=True, eq=False)
class Side:
    """What one axis of a site's weights stands for, where it is not the model's own tokens.

    Attributes:
        tokens: one entry per item.
        own: where on the axis each item's tokens stand; None means at its beginning.
    """

    tokens: tuple[Tokens, ...]
    own: tuple[Int[Tensor, "_"], ...] | None = None

    def places(self, item: int) -> Int[Tensor, " token"]:
        """Where on the axis the tokens of an item stand."""
        return torch.arange(len(self.tokens[item])) if self.own is None else self.own[item]

    def padding(self, length: int) -> Bool[Tensor, "batch token"] | None:
        """True where the axis is filled up; None if it nowhere is."""
        filled = torch.ones(len(self.tokens), length, dtype=torch.bool)
        for item in range(len(self.tokens)):
            filled[item, self.places(item)] = False
        return filled if filled.any() else None


@dataclass(frozen=True, eq=False)
class Stack:
    """Hidden states of one tower.

    Attributes:
        states: what leaves each layer; the first is the embedding.
        sides: whose they are, one entry per state.
    """

    states: tuple[Float[Tensor, "batch _ _"], ...]
    sides: tuple[Side, ...]

    @staticmethod
    def of(states: Sequence[Tensor], tokens: tuple[Tokens, ...]) -> "Stack":
        """States of a network whose every layer holds the same tokens."""
        return Stack(tuple(state.detach() for state in states), (Side(tokens),) * len(states))

    def read(self, layer: int, item: int) -> Float[Tensor, "token dim"]:
        """One item's own tokens.

        Raises:
            ValueError: if there is no such layer.
        """
        if not 0 <= layer < len(self.states):
            raise ValueError(f"layer: expected 0 to {len(self.states) - 1}, received {layer}")
        state = self.states[layer][item]
        return state[self.sides[layer].places(item).to(state.device)]


def padding_of(tokens: Sequence[Tokens]) -> Bool[Tensor, "batch token"] | None:
    """True where a batch of unequal items is filled up; None if nothing is."""
    longest = max(len(item) for item in tokens)
    if all(len(item) == longest for item in tokens):
        return None
    position = torch.arange(longest)
    return torch.stack([position >= len(item) for item in tokens])
