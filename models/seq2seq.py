"""The encoder–decoder: an encoder of the source, a decoder with cross-attention to it.

Source: Vaswani et al. 2017, section 3.1.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from models.attention import Edit, Mask, Pattern
from models.blocks import Context, StackConfig, StackOutput, blocks_of, norm_of
from models.checks import check_choices, check_least, shared_fields
from models.decoder import past_length
from models.edits import BLOCK_EDITS, at, check, edited_state, in_tower
from models.embedding import Embedding
from models.encoder import Encoder, EncoderConfig
from models.output import Projection
from models.positional import (
    POSITIONS,
    check_rotary,
    relation_of,
)
from models.progress import Progress, each, no_progress, stretch
from models.seeding import seeded
from models.where import Where, stack

DECODER = Where(0, tower="decoder")  # what its first block reads
SCALINGS = ("emb", "prj", "none")


@dataclass(frozen=True)
class Seq2SeqConfig(StackConfig):
    """Everything that defines an encoder–decoder, its random weights included.

    The fields of its blocks and of their attention are those of `blocks.StackConfig`. The
    defaults are the base model of Vaswani et al. 2017, with a small vocabulary.

    Attributes:
        source_vocab: how many token ids the encoder reads.
        target_vocab: how many the decoder reads and writes.
        dim: width of the model.
        d_k: width of one head's queries, and of its keys.
        d_v: width of one head's values.
        positions: one of `positional.POSITIONS`; those that reach into attention do so where
            tokens attend to their own sequence, not from target to source.
        max_tokens: the longest source, and the longest target.
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
        mask_fill: the score of a hidden key, see `Mask.fill`.
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
    positions: str = "sinusoidal"
    max_tokens: int = 200
    padding: int = 0
    begin: int = 1
    end: int = 2
    share_target: bool = True
    share_source: bool = True
    scaling: str = "prj"
    embed_norm: bool = True
    last_norm: bool | None = None
    mask_fill: float | None = None
    eps: float = 1e-6

    def __post_init__(self) -> None:
        least = ("source_vocab", "target_vocab", "dim", "heads", "d_k", "d_v", "max_tokens")
        check_least(self, dict.fromkeys(least, 1))
        super().__post_init__()
        check_choices(self, {"positions": POSITIONS, "scaling": SCALINGS})
        check_rotary(self.positions, self.d_k, self.key_dim)
        Mask(fill=self.mask_fill)  # which says what is wrong with it
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
        """Whether both stacks end with a norm."""
        return self.norm == "pre" if self.last_norm is None else self.last_norm

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


@dataclass(frozen=True, eq=False)
class Seq2SeqOutput:
    """Output of a forward pass; with a past, for the target's new tokens only.

    Attributes:
        logits: for each token of the target, how likely each id is to come next.
        hidden: what the logits are made from.
        states: of the decoder: the embedding, then the output of each block.
        encoder: what the encoder left behind.
        blocks: the decoder's patterns, causal and cross, for each block.
    """

    logits: Float[Tensor, "batch token vocab"]
    hidden: Float[Tensor, "batch token dim"]
    states: tuple[Float[Tensor, "batch token dim"], ...]
    encoder: StackOutput
    blocks: tuple[tuple[Pattern, ...], ...]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The encoder's, then each decoder block's two."""
        return (*self.encoder.patterns, *chain(*self.blocks))

    @property
    def result(self) -> tuple[str, Tensor]:
        """The main output and its name."""
        return "logits", self.logits


class Seq2Seq(nn.Module):
    """Source and target ids in, logits of the token after each of the target's out."""

    def __init__(self, config: Seq2SeqConfig = Seq2SeqConfig()) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config.encoder)
        with seeded(config.seed):
            self.embedding = Embedding(
                config.target_vocab,
                config.dim,
                positions=config.positions,
                max_tokens=config.max_tokens,
                padding=config.padding,
                scale=config.embed_scale,
                dropout=config.dropout,
                norm=norm_of(config.norm_kind, config.dim, config.eps)
                if config.embed_norm
                else None,
            )
            self.relation = relation_of(config.positions, config.heads, config.d_k, causal=True)
            self.blocks = blocks_of(config, crosses=True)
            last = norm_of(config.norm_kind, config.dim, config.eps)
            self.norm = last if config.ends_on_norm else nn.Identity()
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
        past: Seq2SeqOutput | None = None,
    ) -> Seq2SeqOutput:
        """Runs encoder and decoder; ids that are `padding` only fill the batch up.

        Args:
            source: token ids for the encoder.
            target: token ids for the decoder, `begin` first, those of the past included.
            edits: interventions, in order.
            progress: called before each block of both and after the last; see `models.progress`.
            past: what an earlier pass over the same source and the target's first tokens
                returned: keys and values are taken from its patterns, and only the target's
                tokens after them are worked out.

        Raises:
            ValueError: for more tokens than the model has room for, and for edits with a past,
                which could not reach the rows that are already there.
        """
        check(edits, self.sites, BLOCK_EDITS)
        before = past_length(
            None if past is None else past.blocks[0][0].keys, target.shape[1], edits
        )
        both = len(self.encoder.blocks) + len(self.blocks)
        first, then = (stretch(progress, n, both) for n in (0, len(self.encoder.blocks)))
        encoder = self._encoded(source, edits, first) if past is None else past.encoder
        fill, rows = self.config.mask_fill, self._padding(target)
        mask = Mask(causal=True, padding=rows, offset=before, fill=fill)
        looking = None if rows is None else rows[:, before:]
        to_source = Mask(padding=self._padding(source), query_padding=looking, fill=fill)
        relation = self.relation(target.shape[1]).since(before)
        x = edited_state(self.embedding(target)[:, before:], edits, DECODER, rows)
        states, blocks = [x], []
        for layer, block in enumerate(each(self.blocks, then)):
            causal, cross = (None, None) if past is None else past.blocks[layer]
            mine, theirs = (at(edits, site) for site in self.decoder_sites[layer])
            context = Context(encoder.hidden, to_source, cross, theirs)
            x, patterns = block(x, context, mask=mask, relation=relation, past=causal, edit=mine)
            x = edited_state(x, edits, replace(DECODER, layer=layer + 1), rows)
            states.append(x)
            blocks.append(patterns)
        hidden, shared = self.norm(x), self.config.share_target
        logits = self.output(hidden, self.embedding.tokens.weight if shared else None)
        return Seq2SeqOutput(logits, hidden, tuple(states), encoder, tuple(blocks))

    def _encoded(self, source: Tensor, edits: Sequence[Edit], progress: Progress) -> StackOutput:
        mine, padding = in_tower(edits, self.encoder_sites), self._padding(source)
        return self.encoder(source, padding=padding, edits=mine, progress=progress)

    def _padding(self, ids: Tensor) -> Bool[Tensor, "batch token"] | None:
        """True where ids only fill up; None if none do, which leaves attention its fastest way."""
        padding = ids == self.config.padding
        return padding if bool(padding.any()) else None

    def _draw(self) -> None:
        """Xavier for every matrix, embeddings included; biases zero."""
        for name, parameter in self.named_parameters():
            if parameter.ndim > 1:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        for tokens in (self.encoder.tokens, self.embedding.tokens):
            nn.init.zeros_(tokens.weight[self.config.padding])
