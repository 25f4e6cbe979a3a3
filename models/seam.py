"""Where an edit may reach into `attend`: the recipe, the weights, the values of each head.

An edit is any object with one of these methods (models/edits.py has ours). Tests and notebooks may
bring their own.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from torch import Tensor

if TYPE_CHECKING:
    from models.pattern import Pattern


@runtime_checkable
class RecipeEdit(Protocol):
    """An edit that changes the recipe: mask, temperature, bias, queries, keys."""

    def edit_recipe(self, pattern: "Pattern") -> "Pattern": ...


@runtime_checkable
class WeightsEdit(Protocol):
    """An edit that changes weights after softmax, row by row, the same way every time."""

    def edit_weights(self, weights: Tensor, heads: Sequence[int], rows: Tensor) -> Tensor:
        """New weights for `batch head row key`; `heads` and `rows` say which these are."""
        ...


@runtime_checkable
class ValuesEdit(Protocol):
    """An edit that changes each head's values, before the output projection."""

    def edit_values(self, values: Tensor, pattern: "Pattern") -> Tensor: ...


Edit = RecipeEdit | WeightsEdit | ValuesEdit
