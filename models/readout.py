"""What turns hidden states into logits.

    logits = cap(scale · W norm(x) + bias),   cap(z) = c · tanh(z / c)

Source: nostalgebraist 2020, "interpreting GPT: the logit lens", reads any layer's states so.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from models.projections import Norm


@dataclass(frozen=True, eq=False)
class Readout:
    """The norm and the linear map between what leaves the last block and the logits.

    Attributes:
        unembedding: W, one vector for each token.
        norm: between the residual stream and W; None if there is none.
        bias: of each token; None means 0.
        scale: factor of W norm(x).
        softcap: c; None if logits are not capped.
    """

    unembedding: Float[Tensor, "vocab dim"]
    norm: Norm | None = None
    bias: Float[Tensor, " vocab"] | None = None
    scale: float = 1.0
    softcap: float | None = None

    def __call__(self, states: Float[Tensor, "*token dim"]) -> Float[Tensor, "*token vocab"]:
        """The logits of hidden states as they leave a block."""
        states = states if self.norm is None else self.norm(states)
        logits = F.linear(states.to(self.unembedding.dtype), self.unembedding)
        logits = logits if self.scale == 1 else logits * self.scale
        return self.capped(logits if self.bias is None else logits + self.bias)

    def capped(self, logits: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Logits with the cap."""
        return logits if self.softcap is None else self.softcap * torch.tanh(logits / self.softcap)
