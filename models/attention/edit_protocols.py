"""Edit protocols: where an edit can intervene in `attend`.

An edit is any object with one of these methods (models/edits.py has ours). Tests and notebooks may
bring their own.
"""

from typing import Protocol, runtime_checkable

from torch import Tensor

from models.attention.pattern import Pattern, WeightsEdit


@runtime_checkable
class RecipeEdit(Protocol):
    """An edit that changes the recipe: mask, temperature, bias, queries, keys."""

    def edit_recipe(self, pattern: Pattern) -> Pattern: ...


@runtime_checkable
class ValuesEdit(Protocol):
    """An edit that changes each head's values, before the output projection."""

    def edit_values(self, values: Tensor, pattern: Pattern) -> Tensor: ...


Edit = RecipeEdit | WeightsEdit | ValuesEdit
