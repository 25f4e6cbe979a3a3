"""Edit protocols: where an edit can intervene in `attend`.

An edit is any object with one of these methods (models/edits/ has ours). Tests and notebooks may
bring their own. Networks give it to the layers that its `where` names; without one, to all.
"""

from typing import Protocol, runtime_checkable

from models.attention.pattern import ItemWeightsEdit, Pattern, ValuesEdit, WeightsEdit


@runtime_checkable
class RecipeEdit(Protocol):
    """An edit that changes the recipe: mask, temperature, bias, queries, keys."""

    def edit_recipe(self, pattern: Pattern) -> Pattern: ...


Edit = RecipeEdit | WeightsEdit | ItemWeightsEdit | ValuesEdit
