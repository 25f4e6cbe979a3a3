"""What defines an encoder–decoder: sizes, what is shared, what is scaled, its seed.

Source: Vaswani et al. 2017. Sharing and scaling are section 3.4 of it and what its
reimplementations made of that.
"""

from dataclasses import dataclass
from typing import Any

from models.attention import DOT_SCALINGS, MultiHeadAttentionConfig
from models.blocks import ACTIVATIONS, BLOCKS
from models.checks import check_choices, check_least, check_shares
from models.encoder import EncoderConfig
from models.positional import POSITIONS, check_rotary

SCALINGS = ("emb", "prj", "none")
SAME = (  # fields that mean the same for the encoder
    *("dim", "depth", "heads", "mlp", "activation", "norm", "positions", "max_tokens", "dropout"),
    *("embed_scale", "embed_norm", "last_norm", "eps", "padding", "qkv_bias", "dot_scaling"),
    *("mask_fill", "seed"),
)


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Everything that defines an encoder–decoder, its random weights included.

    The defaults are the base model of Vaswani et al. 2017, with a small vocabulary.

    Attributes:
        source_vocab: how many token ids the encoder reads.
        target_vocab: how many the decoder reads and writes.
        dim: width of the model.
        depth: number of blocks, of the encoder and of the decoder.
        heads: attention heads in each.
        d_k: width of one head's queries and keys.
        d_v: width of one head's values.
        mlp: hidden width of the feed-forward networks.
        activation: of the feed-forward networks, one of `blocks.ACTIVATIONS`.
        norm: "post" or "pre".
        positions: one of `positional.POSITIONS`; those that reach into attention do so where
            tokens attend to their own sequence, not from target to source.
        max_tokens: the longest source, and the longest target.
        dropout: while training: of embeddings, attention weights, hidden units and residual
            branches.
        padding: the id that only fills up, in source and target: nobody attends to it, its
            embedding is zero and it is never written.
        begin: the id that every target the decoder reads begins with.
        end: the id that ends what it writes.
        share_target: whether the output projection is the target's embedding.
        share_source: whether the source's embedding is the target's, too.
        scaling: with `share_target`, which keeps one matrix from being too large for the one use
            or too small for the other: "emb" multiplies embeddings by √dim, "prj" divides logits
            by it, "none" does neither. Without `share_target` it does nothing.
        embed_norm: whether a norm stands between embeddings and blocks.
        last_norm: whether either stack ends on one more norm; None means with pre-norm only.
        qkv_bias: whether query, key and value projections have a bias.
        dot_scaling: one of `attention.DOT_SCALINGS`.
        mask_fill: the score of a hidden key, see `Mask.fill`.
        eps: of every LayerNorm.
        seed: of the random weights.
    """

    source_vocab: int = 1000
    target_vocab: int = 1000
    dim: int = 512
    depth: int = 6
    heads: int = 8
    d_k: int = 64
    d_v: int = 64
    mlp: int = 2048
    activation: str = "relu"
    norm: str = "post"
    positions: str = "sinusoidal"
    max_tokens: int = 200
    dropout: float = 0.1
    padding: int = 0
    begin: int = 1
    end: int = 2
    share_target: bool = True
    share_source: bool = True
    scaling: str = "prj"
    embed_norm: bool = True
    last_norm: bool | None = None
    qkv_bias: bool = True
    dot_scaling: str = "sqrt"
    mask_fill: float | None = None
    eps: float = 1e-6
    seed: int = 0

    def __post_init__(self) -> None:
        least = ("source_vocab", "target_vocab", "dim", "depth", "heads", "d_k", "d_v", "mlp")
        check_least(self, dict.fromkeys((*least, "max_tokens"), 1))
        check_choices(
            self,
            {"activation": tuple(ACTIVATIONS), "norm": tuple(BLOCKS), "positions": POSITIONS}
            | {"scaling": SCALINGS, "dot_scaling": DOT_SCALINGS},
        )
        check_shares(self, ("dropout",))
        if self.eps <= 0:
            raise ValueError(f"eps: expected a number above 0, received {self.eps}")
        check_rotary(self.positions, self.d_k)
        self._check_ids()
        if self.share_source and self.source_vocab != self.target_vocab:
            raise ValueError(
                "share_source: expected source_vocab = target_vocab, received"
                f" {self.source_vocab} and {self.target_vocab}"
            )

    def _check_ids(self) -> None:
        for name in ("padding", "begin", "end"):
            given = getattr(self, name)
            room = self.target_vocab
            room = min(room, self.source_vocab) if name == "padding" else room
            if not 0 <= given < room:
                raise ValueError(f"{name}: expected 0 to {room - 1}, received {given}")
        if self.padding in (self.begin, self.end):
            raise ValueError(
                f"padding: expected an id other than begin and end, received {self.padding},"
                f" {self.begin} and {self.end}"
            )

    @property
    def ends_on_norm(self) -> bool:
        """Whether either stack ends on one more norm."""
        return self.norm == "pre" if self.last_norm is None else self.last_norm

    @property
    def embed_scale(self) -> bool:
        """Whether embeddings are multiplied by √dim."""
        return self.share_target and self.scaling == "emb"

    @property
    def logit_scale(self) -> float:
        """What logits are multiplied by."""
        return self.dim**-0.5 if self.share_target and self.scaling == "prj" else 1.0

    @property
    def attention(self) -> MultiHeadAttentionConfig:
        """Of every attention in the decoder."""
        return MultiHeadAttentionConfig(
            dim=self.dim,
            heads=self.heads,
            head_dim=self.d_k,
            value_dim=self.d_v,
            qkv_bias=self.qkv_bias,
            dot_scaling=self.dot_scaling,
            dropout=self.dropout,
        )

    @property
    def encoder(self) -> EncoderConfig:
        """Of the encoder."""
        same: dict[str, Any] = {name: getattr(self, name) for name in SAME}
        return EncoderConfig(
            vocab=self.source_vocab,
            head_dim=self.d_k,
            value_dim=self.d_v,
            embed_norm_last=True,
            **same,
        )
