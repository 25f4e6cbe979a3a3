"""Edits: interventions on a forward pass, as values.

Each has an address (`where`: layer, kind, tower, module, part; None means all) and does one thing:
to the recipe of attention weights, to the weights after the softmax, to the values of heads before
the output projection, to what a feed-forward network adds, to a hidden state, or to the input. Pass
them as `edits=[...]` to a network or to `trace`. Positions count the item's own tokens, wherever
its padding is. `describe()` says what an edit does.
"""

from models.edits.ablate import Ablate, Reference
from models.edits.eviction import Evict
from models.edits.recipe import Cut, Temperature
from models.edits.routing import BLOCKS, at, check, edited_mlp, edited_state, in_tower
from models.edits.weights import SetWeights, UsePattern

__all__ = [
    "BLOCKS",
    "Ablate",
    "Cut",
    "Evict",
    "Reference",
    "SetWeights",
    "Temperature",
    "UsePattern",
    "at",
    "check",
    "edited_mlp",
    "edited_state",
    "in_tower",
]
