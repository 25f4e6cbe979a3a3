"""Edits: interventions on a forward pass, as values.

Each has an address (layer, kind, tower, module, part; None means all) and does one thing:
to the recipe of attention weights, to the weights after the softmax, to the values of heads before
the output projection, to what a feed-forward network adds, to a hidden state, or to the pixels of a
picture. Pass them as `edits=[...]` to a network or to `trace`. Positions count the item's own
tokens, wherever its padding is. `describe()` says what an edit does.
"""

from models.edits.ablate import Ablate, AblateMLP, Reference
from models.edits.cover import Cover
from models.edits.patch import Patch
from models.edits.recipe import Cut, Temperature
from models.edits.routing import (
    BLOCK_EDITS,
    as_edits,
    at,
    check,
    edited_mlp,
    edited_state,
    in_tower,
    of_input,
    of_network,
    reads_all_tokens,
)
from models.edits.weights import SetWeights, UsePattern

__all__ = [
    "BLOCK_EDITS",
    "Ablate",
    "AblateMLP",
    "Cover",
    "Cut",
    "Patch",
    "Reference",
    "SetWeights",
    "Temperature",
    "UsePattern",
    "as_edits",
    "at",
    "check",
    "edited_mlp",
    "edited_state",
    "in_tower",
    "of_input",
    "of_network",
    "reads_all_tokens",
]
