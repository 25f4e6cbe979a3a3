"""`AblateMLP`: what a feed-forward network adds to the residual stream, replaced."""

from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from models.edits.fields import Layered, checked, choice, edit, whole
from models.edits.routing import MLP
from models.edits.tokens import Padding, own_tokens, shuffled
from models.edits.words import LEAVES, place


@edit
class AblateMLP(Layered):
    """Ablates feed-forward networks: what they add to the stream is replaced, biases included.

    Its `module` is the path of a block, or of the feed-forward network itself.

    Attributes:
        how: "zero"; "mean", over the tokens of each item; "shuffled", dealt to other tokens.
        seed: of the shuffle.
    """

    acts_on: ClassVar[str] = MLP
    layer: int | None
    how: Literal["zero", "mean", "shuffled"] = "zero"
    seed: int = 0

    def __post_init__(self) -> None:
        choice("how", self.how, ("zero", "mean", "shuffled"))
        checked(self, whole, "seed")

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        become = {
            "zero": f"the MLP adds nothing, {LEAVES}",
            "mean": "the MLP adds its mean over the item's tokens",
            "shuffled": "what the MLP adds is dealt to other tokens at random",
        }
        return f"{place(self.where, heads='')}: {become[self.how]}."

    @property
    def reads_all_tokens(self) -> bool:
        """Whether it depends on all tokens of an item."""
        return self.how != "zero"

    def edit_mlp(
        self, added: Float[Tensor, "batch token dim"], padding: Padding
    ) -> Float[Tensor, "batch token dim"]:
        if self.how == "zero":
            return torch.zeros_like(added)
        edited = added.clone()
        for item, rows in enumerate(added):
            tokens = own_tokens(padding, item, len(rows), rows.device)
            mine = rows[tokens]
            dealt = self.how == "shuffled"
            edited[item, tokens] = shuffled(mine, self.seed + item) if dealt else mine.mean(0)
        return edited
