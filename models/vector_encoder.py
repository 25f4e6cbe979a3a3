"""The encoder of vectors: a stack of blocks without an embedding, as in torch.nn.

With blocks it is `nn.TransformerEncoder`; without norms, feed-forward networks and residual
connections (`attention_only`) one block is `nn.MultiheadAttention` of a sequence to itself.

Source: Vaswani et al. 2017, section 3.1.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from models.attention import Edit, Mask, MultiHeadAttention, MultiHeadAttentionConfig, Pattern
from models.blocks import FeedForward, StackConfig, StackOutput, blocks_of, run_blocks
from models.edits import BLOCK_EDITS, check
from models.edits.routing import ATTENTION, STATES
from models.progress import Progress, no_progress
from models.seeding import seeded, xavier
from models.where import Where, stack


@dataclass(frozen=True)
class VectorEncoderConfig(StackConfig):
    """Everything that defines an encoder of vectors, its random weights included.

    The fields of its blocks and of their attention are those of `blocks.StackConfig`.

    Attributes:
        dim: width of the vectors.
        head_dim: width of one head; None means dim / heads.
        bias: whether norms and feed-forward networks of blocks have one; attention has fields of
            its own.
        last_eps: of one more LayerNorm behind the blocks; None means that there is none.
        attention_only: whether a block is its attention alone: no norm, no residual connection.
        token_first: whether inputs by name are `token batch dim`.
    """

    dim: int = 64
    _: KW_ONLY
    head_dim: int | None = None
    norm: str = "post"
    activation: str = "relu"
    bias: bool = True
    last_eps: float | None = None
    attention_only: bool = False
    token_first: bool = False

    @property
    def max_tokens(self) -> int:
        """A million: nothing in the network limits it."""
        return 10**6


class AttentionBlock(nn.Module):
    """Attention alone: its output takes the place of its input."""

    def __init__(self, attention: MultiHeadAttentionConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(attention)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        *,
        mask: Mask = Mask(),
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch token dim"], tuple[Pattern]]:
        x, pattern = self.attention(x, mask=mask, edit=edit)
        return x, (pattern,)


class VectorEncoder(nn.Module):
    """Vectors in, one vector per token out, and every head's pattern."""

    def __init__(self, config: VectorEncoderConfig = VectorEncoderConfig()) -> None:
        super().__init__()
        self.config = config
        with seeded(config.seed):
            if config.attention_only:
                layers = [AttentionBlock(config.attention) for _ in range(config.depth)]
                self.blocks = nn.ModuleList(layers)
            else:
                self.blocks = blocks_of(config)
            self.apply(xavier)
        if not config.bias:
            _drop_biases(self.blocks)
        last = config.last_eps
        self.norm = nn.Identity() if last is None else nn.LayerNorm(config.dim, eps=last)

    @property
    def sites(self) -> tuple[Where, ...]:
        """Its attention layers, in the order of their calls, where no mask is causal."""
        return stack(len(self.blocks), "self", "blocks.{}.attention")

    def forward(
        self,
        vectors: Float[Tensor, "batch token dim"],
        *,
        padding: Bool[Tensor, "batch token"] | None = None,
        causal: bool = False,
        visible: Bool[Tensor, "token token"] | None = None,
        edits: Sequence[Edit] = (),
        progress: Progress = no_progress,
    ) -> StackOutput:
        """Runs the encoder.

        Args:
            vectors: of the tokens.
            padding: True at tokens that only fill the batch up.
            causal: whether a token attends to no later one.
            visible: True where a token, in the row, may attend to another, in the column.
            edits: interventions, in order.
            progress: called before each block and after the last; see `models.progress`.
        """
        kind = "causal" if causal else "self"
        sites = tuple(replace(site, kind=kind) for site in self.sites)
        check(edits, sites, (ATTENTION, STATES) if self.config.attention_only else BLOCK_EDITS)
        dense = None if visible is None else visible[None, None]
        if torch.is_grad_enabled() and not vectors.requires_grad:
            vectors = vectors.detach().requires_grad_()  # relevance is read at the input
        states, patterns = run_blocks(
            self.blocks,
            vectors,
            sites,
            edits=edits,
            padding=padding,
            progress=progress,
            mask=Mask(padding=padding, causal=causal, dense=dense),
        )
        return StackOutput(self.norm(states[-1]), states, patterns, sites=sites)


def _drop_biases(blocks: nn.ModuleList) -> None:
    """Takes the biases of norms and feed-forward networks away."""
    for module in blocks.modules():
        if isinstance(module, FeedForward):
            module.up.register_parameter("bias", None)
            module.down.register_parameter("bias", None)
        elif isinstance(module, nn.LayerNorm):
            module.register_parameter("bias", None)
