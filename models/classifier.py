"""Classification head: linear layers with BatchNorm and activation between them."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from models.blocks import ACTIVATIONS


class Classifier(nn.Module):
    """A vector in, one logit per class out."""

    def __init__(
        self, dim: int, widths: Sequence[int], *, activation: str = "relu", dropout: float = 0.0
    ) -> None:
        """Builds the layers.

        Args:
            dim: width of what comes in.
            widths: of each layer; the last is the number of classes.
            activation: between two layers, one of `blocks.ACTIVATIONS`.
            dropout: while training: before each layer.
        """
        super().__init__()
        into = (dim, *widths[:-1])
        self.layers = nn.ModuleList(nn.Linear(*sizes) for sizes in zip(into, widths, strict=True))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[:-1])
        self.dropout = nn.Dropout(dropout)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch class"]:
        *hidden, last = self.layers
        for layer, norm in zip(hidden, self.norms, strict=True):
            x = self.activation(norm(layer(self.dropout(x))))
        return last(self.dropout(x))
