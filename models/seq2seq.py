"""The encoder–decoder: an encoder of the source, a decoder with cross-attention to it.

Source: Vaswani et al. 2017, section 3.1.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain

from jaxtyping import Int
from torch import Tensor, nn

from models.attention import Edit, Mask
from models.attention.relative import RelativePositions
from models.blocks import Context, Embedding, StackOutput, TextConfig, blocks_of, run_blocks
from models.checks import check_fields, shared_fields
from models.edits import BLOCK_EDITS, at, check, in_tower
from models.encoder import Encoder, EncoderConfig, padding_of
from models.output import Projection
from models.progress import Progress, no_progress, stretch
from models.seeding import seeded
from models.where import Where, stack

SCALINGS = ("emb", "prj", "none")


@dataclass(frozen=True)
class Seq2SeqConfig(TextConfig):
    """Everything that defines an encoder–decoder, its random weights included.

    The fields that other networks of tokens have too are those of `blocks.TextConfig`. The defaults
    are the base model of Vaswani et al. 2017, with a small vocabulary.

    Attributes:
        source_vocab: how many token ids the encoder reads.
        target_vocab: how many the decoder reads and writes.
        d_k: width of one head's queries, and of its keys.
        d_v: width of one head's values.
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
    """

    source_vocab: int = 1000
    target_vocab: int = 1000
    _: KW_ONLY
    dim: int = 512
    depth: int = 6
    heads: int = 8
    d_k: int = 64
    d_v: int = 64
    mlp: int = 2048
    activation: str = "relu"
    norm: str = "post"
    max_tokens: int = 200
    padding: int = 0
    begin: int = 1
    end: int = 2
    share_target: bool = True
    share_source: bool = True
    scaling: str = "prj"
    embed_norm: bool = True
    eps: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, scaling=SCALINGS)
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
    def embed_scale(self) -> bool:
        """Whether embeddings are multiplied by √dim."""
        return self.share_target and self.scaling == "emb"

    @property
    def logit_scale(self) -> float:
        """Factor applied to the logits."""
        return self.dim**-0.5 if self.share_target and self.scaling == "prj" else 1.0

    @property
    def head_dim(self) -> int:
        """`d_k`, by its name in an attention layer."""
        return self.d_k

    @property
    def value_dim(self) -> int:
        """`d_v`, by its name in an attention layer."""
        return self.d_v

    @property
    def encoder(self) -> EncoderConfig:
        """Of the encoder."""
        same = shared_fields(self, EncoderConfig)
        return EncoderConfig(**same, vocab=self.source_vocab, embed_norm_last=True)


class Seq2Seq(nn.Module):
    """Source and target ids in, logits of the token after each of the target's out."""

    def __init__(self, config: Seq2SeqConfig = Seq2SeqConfig()) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config.encoder)
        with seeded(config.seed):
            self.embedding = Embedding(
                config,
                config.target_vocab,
                scale=config.embed_scale,
                padding=config.padding,
                norm=config.embed_norm,
            )
            self.relation = RelativePositions(
                config.positions, config.heads, config.d_k, causal=True
            )
            self.blocks = blocks_of(config, crosses=True)
            self.norm = config.norm_if(config.ends_on_norm)
            untied = not config.share_target
            self.output = Projection(
                config.dim, config.target_vocab, has_weight=untied, scale=config.logit_scale
            )
            if config.share_source:
                self.encoder.tokens = self.embedding.tokens
            self._draw()

    @property
    def sites(self) -> tuple[Where, ...]:
        """Its attention layers, in the order of their calls."""
        return (*self.encoder_sites, *chain(*self.decoder_sites))

    @property
    def encoder_sites(self) -> tuple[Where, ...]:
        """Those of the encoder."""
        depth = len(self.encoder.blocks)
        return stack(depth, "self", "encoder.blocks.{}.attention", "encoder")

    @property
    def decoder_sites(self) -> tuple[tuple[Where, Where], ...]:
        """Those of the decoder, block by block: causal and cross."""
        depth = len(self.blocks)
        causal = stack(depth, "causal", "blocks.{}.attention", "decoder")
        cross = stack(depth, "cross", "blocks.{}.cross", "decoder")
        return tuple(zip(causal, cross, strict=True))

    def forward(
        self,
        source: Int[Tensor, "batch key"],
        target: Int[Tensor, "batch token"],
        *,
        edits: Sequence[Edit] = (),
        progress: Progress = no_progress,
        encoder: StackOutput | None = None,
    ) -> StackOutput:
        """Runs encoder and decoder; ids that are `padding` only fill the batch up.

        Args:
            source: token ids for the encoder.
            target: token ids for the decoder, `begin` first.
            edits: interventions, in order.
            progress: called before each block of both and after the last; see `models.progress`.
            encoder: what it returned in an earlier pass over the same source; None runs it.

        Raises:
            ValueError: for more tokens than the model has room for.
        """
        check(edits, self.sites, BLOCK_EDITS)
        of_source, rows = (padding_of(ids, self.config.padding) for ids in (source, target))
        both, fill = len(self.encoder.blocks) + len(self.blocks), self.config.mask_fill
        mine, first = in_tower(edits, self.encoder_sites), stretch(progress, 0, both)
        given = {"padding": of_source, "edits": mine, "progress": first}
        left: StackOutput = encoder or self.encoder(source, **given)
        read, to_source = left.hidden, Mask(padding=of_source, query_padding=rows, fill=fill)
        causal_sites, cross_sites = zip(*self.decoder_sites, strict=True)
        states, patterns = run_blocks(
            self.blocks,
            self.embedding(target),
            causal_sites,
            lambda layer: {"context": Context(read, to_source, at(edits, cross_sites[layer]))},
            edits=edits,
            padding=rows,
            progress=stretch(progress, len(self.encoder.blocks), both),
            mask=Mask(causal=True, padding=rows, fill=fill),
            relation=self.relation(target.shape[1]),
        )
        hidden, shared = self.norm(states[-1]), self.config.share_target
        logits = self.output(hidden, self.embedding.tokens.weight if shared else None)
        return StackOutput(hidden, states, patterns, logits, left)

    def _draw(self) -> None:
        """Xavier for every matrix, embeddings included; biases zero."""
        for name, parameter in self.named_parameters():
            if parameter.ndim > 1:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        for tokens in (self.encoder.tokens, self.embedding.tokens):
            nn.init.zeros_(tokens.weight[self.config.padding])
