"""The translator: a transformer encoder, and a recurrent decoder with cross-attention to it.

In place of self-attention the decoder has a simpler simple recurrent unit (SSRU), whose work per
token does not grow with the length of the text:

    f_t = σ(x_t W_f + b_f)      c_t = f_t c_{t−1} + (1 − f_t) x_t W      h_t = ReLU(c_t)

Sources: Kim et al. 2019, "From Research to Production and Back: Ludicrously Fast Neural Machine
Translation", section 3.1; Bogoychev et al. 2020, "Edinburgh's Submissions to the 2020 Machine
Translation Efficiency Task". It is the "tiny" model of Bergamot and of Firefox's translations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from models.attention import (
    Edit,
    Mask,
    MultiHeadAttention,
    MultiHeadAttentionConfig,
    Pattern,
)
from models.blocks import AddNorm, FeedForward, StackOutput, run_blocks
from models.checks import check_fields
from models.edits import BLOCK_EDITS, check, edited_mlp, in_tower
from models.encoder import Encoder, EncoderConfig, padding_of
from models.progress import Progress, no_progress, stretch
from models.seeding import seeded, xavier
from models.where import Where, stack

RESERVED = 2  # ids behind the vocabulary whose vectors are zero: `begin` and `padding`


@dataclass(frozen=True)
class TranslatorConfig:
    """Everything that defines a translator, its random weights included.

    Attributes:
        vocab: how many token ids source and target share.
        dim: width of the model.
        depth: number of blocks of the encoder.
        decoder_depth: number of blocks of the decoder.
        heads: attention heads in each.
        mlp: hidden width of the feed-forward networks.
        max_tokens: the longest source, and the longest target.
        end: the id that ends a text.
        eps: of every norm.
        seed: of the random weights.
    """

    vocab: int = 1000
    dim: int = 64
    depth: int = 2
    decoder_depth: int = 2
    heads: int = 4
    mlp: int = 256
    max_tokens: int = 512
    end: int = 0
    eps: float = 1e-9
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        _ = self.attention  # which says what is wrong with it
        if self.dim < 4 or self.dim % 2:
            raise ValueError(f"dim: expected an even number from 4, received {self.dim}")
        if not 0 <= self.end < self.vocab:
            raise ValueError(f"end: expected 0 to {self.vocab - 1}, received {self.end}")

    @property
    def begin(self) -> int:
        """The id that every target the decoder reads begins with."""
        return self.vocab

    @property
    def padding(self) -> int:
        """The id that only fills up."""
        return self.vocab + 1

    @property
    def source_vocab(self) -> int:
        """How many ids the encoder reads, reserved ones included."""
        return self.vocab + RESERVED

    @property
    def target_vocab(self) -> int:
        """How many ids the decoder reads, reserved ones included; it writes `vocab` of them."""
        return self.vocab + RESERVED

    @property
    def attention(self) -> MultiHeadAttentionConfig:
        """The config of each attention layer."""
        return MultiHeadAttentionConfig(dim=self.dim, heads=self.heads)

    @property
    def encoder(self) -> EncoderConfig:
        """Of the encoder, whose positions are those of `Halves`."""
        return EncoderConfig(
            vocab=self.source_vocab,
            dim=self.dim,
            depth=self.depth,
            heads=self.heads,
            mlp=self.mlp,
            activation="relu",
            norm="post",
            positions="none",
            max_tokens=self.max_tokens,
            dropout=0.0,
            embed_scale=True,
            eps=self.eps,
            seed=self.seed,
        )


def halves(positions: int, dim: int) -> Float[Tensor, "position dim"]:
    """Sines in the first half of the features, cosines of the same angles in the second.

        P[p, i] = sin(p · ω_i),   P[p, dim/2 + i] = cos(p · ω_i),   ω_i = 10000^(−i / (dim/2 − 1))

    Args:
        positions: how many.
        dim: width, an even number.

    Source: Marian's `SinusoidalPositionEmbeddingLayer`, after tensor2tensor.
    """
    half = dim // 2
    frequency = torch.exp(-log(10_000) / (half - 1) * torch.arange(half, dtype=torch.float64))
    angle = torch.arange(positions, dtype=torch.float64)[:, None] * frequency
    return torch.cat([angle.sin(), angle.cos()], dim=1).float()


class Halves(nn.Module):
    """Adds the fixed table of `halves`."""

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        return x + halves(x.shape[1], x.shape[2]).to(x.device, x.dtype)


class SSRU(nn.Module):
    """The recurrent unit; see the equations above."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.input = nn.Linear(dim, dim, bias=False)
        self.forget = nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        kept = self.forget(x).sigmoid()
        added = (1 - kept) * self.input(x)
        cells = [added[:, 0]]
        for token in range(1, x.shape[1]):
            cells.append(kept[:, token] * cells[-1] + added[:, token])
        return torch.stack(cells, dim=1).relu()


class RecurrentBlock(nn.Module):
    """SSRU, attention to the source, feed-forward; Add & Norm after each."""

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__()
        self.recurrent = SSRU(config.dim)
        self.after_recurrent = AddNorm(config.dim, eps=config.eps)
        self.cross = MultiHeadAttention(config.attention)
        self.after_cross = AddNorm(config.dim, eps=config.eps)
        self.feed_forward = FeedForward(config.dim, config.mlp)
        self.after_feed_forward = AddNorm(config.dim, eps=config.eps)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        context: Float[Tensor, "batch key dim"],
        *,
        mask: Mask = Mask(),
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch token dim"], tuple[Pattern]]:
        x = self.after_recurrent(x, self.recurrent(x))
        attended, pattern = self.cross(x, context, mask=mask, edit=edit)
        x = self.after_cross(x, attended)
        fed = edited_mlp(self.feed_forward(x), edit, mask.query_padding)
        return self.after_feed_forward(x, fed), (pattern,)


class Translator(nn.Module):
    """Source and target ids in, logits of the token after each of the target's out."""

    def __init__(self, config: TranslatorConfig = TranslatorConfig()) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config.encoder)
        self.encoder.positions = Halves()
        with seeded(config.seed):
            self.positions = Halves()
            self.blocks = nn.ModuleList(RecurrentBlock(config) for _ in range(config.decoder_depth))
            self.bias = nn.Parameter(torch.zeros(config.vocab))
            self.blocks.apply(xavier)
            nn.init.normal_(self.embedding.weight, std=config.dim**-0.5)
            nn.init.zeros_(self.embedding.weight[config.vocab :])

    @property
    def embedding(self) -> nn.Embedding:
        """Of source and target; without its reserved rows it makes the logits, too."""
        return self.encoder.tokens

    @property
    def sites(self) -> tuple[Where, ...]:
        """Its attention layers, in the order of their calls."""
        return (*self.encoder_sites, *self.decoder_sites)

    @property
    def aligning(self) -> tuple[tuple[int, int], ...]:
        """Layer and head of the cross-attention that trained ones of Bergamot align words with.

        Marian's `guided-alignment` adds a loss on head 0 of the last layer alone.
        """
        return ((self.config.decoder_depth - 1, 0),)

    @property
    def encoder_sites(self) -> tuple[Where, ...]:
        """Those of the encoder."""
        return stack(self.config.depth, "self", "encoder.blocks.{}.attention", "encoder")

    @property
    def decoder_sites(self) -> tuple[Where, ...]:
        """Those of the decoder."""
        return stack(self.config.decoder_depth, "cross", "blocks.{}.cross", "decoder")

    def forward(
        self,
        source: Int[Tensor, "batch key"],
        target: Int[Tensor, "batch token"],
        *,
        edits: Sequence[Edit] = (),
        progress: Progress = no_progress,
        encoder: StackOutput | None = None,
    ) -> StackOutput:
        """Runs encoder and decoder; arguments and errors as for `models.seq2seq.Seq2Seq`."""
        check(edits, self.sites, BLOCK_EDITS)
        if target.shape[1] > self.config.max_tokens:
            most = f"at most {self.config.max_tokens} tokens"
            raise ValueError(f"expected {most}, received {target.shape[1]}")
        of_source, rows = (padding_of(ids, self.config.padding) for ids in (source, target))
        both = len(self.encoder.blocks) + len(self.blocks)
        mine, first = in_tower(edits, self.encoder_sites), stretch(progress, 0, both)
        given = {"padding": of_source, "edits": mine, "progress": first}
        left: StackOutput = encoder or self.encoder(source, **given)
        states, patterns = run_blocks(
            self.blocks,
            self.positions(self.embedding(target) * sqrt(self.config.dim)),
            self.decoder_sites,
            edits=edits,
            padding=rows,
            progress=stretch(progress, len(self.encoder.blocks), both),
            context=left.hidden,
            mask=Mask(padding=of_source, query_padding=rows),
        )
        logits = states[-1] @ self.embedding.weight[: self.config.vocab].T + self.bias
        return StackOutput(states[-1], states, patterns, logits, left)
