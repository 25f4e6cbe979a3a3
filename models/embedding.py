"""Token embedding with positions, the input of a decoder's first block."""

from math import sqrt

from jaxtyping import Float, Int
from torch import Tensor, nn

from models.blocks import TextConfig
from models.positional import Learned, positions_of


class Embedding(nn.Module):
    """Token vectors, times √dim if wanted; positions; dropout; a norm if wanted.

    Vectors are drawn with a deviation of 1/√dim: times √dim they are as large as the positions,
    and as an output projection they give logits of size 1 (Vaswani et al. 2017, section 3.4).
    Learned positions are drawn as large as the vectors that they are added to.
    """

    def __init__(
        self,
        config: TextConfig,
        vocab: int,
        *,
        scale: bool,
        padding: int | None = None,
        norm: bool = False,
    ) -> None:
        """Draws the vectors.

        Args:
            config: of the network.
            vocab: how many token ids.
            scale: whether the vectors are multiplied by √dim.
            padding: the token id whose vector stays zero; None if there is none.
            norm: whether a norm follows the dropout.
        """
        super().__init__()
        dim, self.max_tokens = config.dim, config.max_tokens
        self.factor = sqrt(dim) if scale else 1.0
        self.tokens = nn.Embedding(vocab, dim, padding_idx=padding)
        self.positions = positions_of(config.positions, config.max_tokens, dim)
        self.dropout = nn.Dropout(config.dropout)
        self.norm = config.norm_if(norm)
        nn.init.normal_(self.tokens.weight, std=dim**-0.5)
        if isinstance(self.positions, Learned):
            nn.init.normal_(self.positions.table, std=self.factor * dim**-0.5)
        if padding is not None:
            nn.init.zeros_(self.tokens.weight[padding])

    def forward(self, ids: Int[Tensor, "batch token"]) -> Float[Tensor, "batch token dim"]:
        """The vectors.

        Raises:
            ValueError: for more tokens than there is room for.
        """
        if ids.shape[1] > self.max_tokens:
            raise ValueError(f"expected at most {self.max_tokens} tokens, received {ids.shape[1]}")
        x = self.tokens(ids)
        x = x if self.factor == 1 else x * self.factor
        return self.norm(self.dropout(self.positions(x)))
