"""Edit protocols: where an edit can intervene in a pass, most of them in `attend`.

An edit is any object with one of these methods (models/edits/ has ours). Tests and notebooks may
bring their own. Networks give it to the layers that its `where` names; without one, to all.
"""

from typing import Protocol, runtime_checkable

from torch import Tensor

from models.attention.pattern import Pattern, ValuesEdit, WeightsEdit
from models.where import Where


@runtime_checkable
class RecipeEdit(Protocol):
    """An edit that changes the recipe: mask, temperature, bias, queries, keys."""

    def edit_recipe(self, pattern: Pattern) -> Pattern: ...


@runtime_checkable
class Sited(Protocol):
    """An edit that has to know its site."""

    def bound(self, site: Where) -> "Edit":
        """The edit at one site, given its full address."""
        ...


@runtime_checkable
class MlpEdit(Protocol):
    """An edit of what a feed-forward network adds to the residual stream."""

    def edit_mlp(self, added: Tensor, padding: Tensor | None) -> Tensor: ...


@runtime_checkable
class StateEdit(Protocol):
    """An edit of the residual stream between blocks."""

    def edit_state(self, state: Tensor, padding: Tensor | None) -> Tensor: ...


@runtime_checkable
class PixelsEdit(Protocol):
    """An edit of the pixels that the network reads, before it runs."""

    def edit_pixels(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor: ...


Edit = PixelsEdit | RecipeEdit | WeightsEdit | ValuesEdit | MlpEdit | StateEdit | Sited
