"""`SetGate`: the output gate of gated attention, opened, closed or held at its mean.

Source: Qiu et al. 2025, "Gated Attention for Large Language Models".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from models.edits.fields import Numbers, address, assign, call_of, heads_of, number, numbers
from models.edits.routing import GATE
from models.edits.tokens import Padding, own_tokens
from models.edits.words import place
from models.where import Where


@dataclass(frozen=True, init=False, repr=False)
class SetGate:
    """Sets what the values of heads are multiplied with before the output projection.

    Attributes:
        where: which layers.
        head: which head or heads; None for all.
        value: 0 closes the gate, 1 opens it, which is attention without one; "mean" holds it at its
            mean over the tokens of each item.
    """

    acts_on: ClassVar[str] = GATE
    where: Where
    head: Numbers
    value: int | float | str

    def __init__(
        self,
        layer: int | None,
        head: Numbers,
        value: int | float | str = 1,
        tower: str | None = None,
        module: str | None = None,
        part: int | None = None,
    ) -> None:
        if value != "mean" and not (isinstance(value, int | float) and 0 <= value <= 1):
            raise ValueError(f"value: expected 0 to 1, or mean, received {value!r}")
        where = address(layer, None, tower, module, part)
        assign(self, where=where, head=numbers("head", head), value=value)

    def __repr__(self) -> str:
        return call_of(self)

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        named = {"mean": "is held at its mean over the item's tokens", 0: "is closed", 1: "is open"}
        to = named.get(self.value, f"is {self.value}")
        return f"{place(self.where, self.head)}: the output gate {to}."

    def edit_gates(
        self,
        gates: Float[Tensor, "batch token column"],
        starts: Sequence[int],
        dim: int,
        padding: Padding,
    ) -> Float[Tensor, "batch token column"]:
        """Gates before their sigmoid, as a linear module returns them.

        Args:
            gates: among other columns.
            starts: the first column of each head's gate.
            dim: number of columns of a head.
            padding: True at padding.
        """
        first = [starts[head] for head in heads_of(self.head, len(starts))]
        columns = [column for start in first for column in range(start, start + dim)]
        edited = gates.clone()
        for item, rows in enumerate(gates):
            tokens = own_tokens(padding, item, len(rows), rows.device)
            mine = rows[tokens][:, columns]
            change = mine.sigmoid().mean(0) if self.value == "mean" else number("value", self.value)
            edited[item, tokens[:, None], torch.tensor(columns)] = torch.logit(
                torch.as_tensor(change, dtype=mine.dtype, device=mine.device)
            ).expand_as(mine)
        return edited
