"""Attention: `attend`, the values it takes and returns, and the multi-head layer.

`attend` (functional.py) is the one function every network goes through. `Mask`, the scores (`Dot`,
`Bilinear`, `Additive`), and edits are its arguments; a `Pattern`, the recipe of the weights, is
returned beside the values. `MultiHeadAttention` projects its input and calls it.
"""

from models.attention.blocks import Block
from models.attention.edit_protocols import Edit
from models.attention.functional import attend
from models.attention.mask import Edge, Mask
from models.attention.multihead import (
    AttentionFields,
    MultiHeadAttention,
    MultiHeadAttentionConfig,
    attention_of,
)
from models.attention.pattern import Pattern
from models.attention.scores import Additive, Bilinear, Dot, Score

__all__ = [
    "Additive",
    "AttentionFields",
    "Bilinear",
    "Block",
    "Dot",
    "Edge",
    "Edit",
    "Mask",
    "MultiHeadAttention",
    "MultiHeadAttentionConfig",
    "Pattern",
    "Score",
    "attend",
    "attention_of",
]
