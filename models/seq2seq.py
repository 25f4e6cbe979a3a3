"""The encoder–decoder: one stack reads the source, the other writes the target and looks back.

Source: Vaswani et al. 2017, section 3.1. Its config is in models/seq2seq_config.py and can be had
from here too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from models.attention import Edit, Mask, Pattern
from models.blocks import DECODER_BLOCKS, Both
from models.decoder import seen_by
from models.edits import at, check
from models.embedding import Embedding
from models.encoder import Encoder, EncoderOutput
from models.output import Projection
from models.positional import relation_of
from models.seeding import seeded
from models.seq2seq_config import SCALINGS, Seq2SeqConfig

__all__ = ["SCALINGS", "Seq2Seq", "Seq2SeqConfig", "Seq2SeqOutput"]

KINDS = ("self", "causal", "cross")


@dataclass(frozen=True, eq=False)
class Seq2SeqOutput:
    """What a forward pass leaves behind; with a past, for the target's new tokens alone.

    Attributes:
        logits: for each token of the target, how likely each id is to come next.
        hidden: what the logits are made from.
        states: of the decoder: the embedding, then the output of each block.
        encoder: what the encoder left behind.
        blocks: the decoder's patterns, two for each block.
    """

    logits: Float[Tensor, "batch token vocab"]
    hidden: Float[Tensor, "batch token dim"]
    states: tuple[Float[Tensor, "batch token dim"], ...]
    encoder: EncoderOutput
    blocks: tuple[Both[Pattern], ...]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The encoder's, then each decoder block's two."""
        decoder = (pattern for both in self.blocks for pattern in (both.causal, both.cross))
        return (*self.encoder.patterns, *decoder)

    @property
    def result(self) -> tuple[str, Tensor]:
        """What the network is for, and what to call it."""
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
                norm_eps=config.eps if config.embed_norm else None,
            )
            self.relation = relation_of(config.positions, config.heads, config.d_k, causal=True)
            self.blocks = nn.ModuleList(_block(config) for _ in range(config.depth))
            last = nn.LayerNorm(config.dim, eps=config.eps)
            self.norm = last if config.ends_on_norm else nn.Identity()
            own = not config.share_target
            self.output = Projection(
                config.dim, config.target_vocab, own=own, scale=config.logit_scale
            )
            if config.share_source:
                self.encoder.tokens = self.embedding.tokens
            self._draw()

    def forward(
        self,
        source: Int[Tensor, "batch key"],
        target: Int[Tensor, "batch token"],
        *,
        edits: Sequence[Edit] = (),
        past: Seq2SeqOutput | None = None,
    ) -> Seq2SeqOutput:
        """Runs encoder and decoder; ids that are `padding` only fill the batch up.

        Args:
            source: token ids for the encoder.
            target: token ids for the decoder, `begin` first, those of the past included.
            edits: what to change on the way.
            past: what an earlier pass over the same source and the target's first tokens
                returned: keys and values are taken from its patterns, and only the target's
                tokens after them are worked out.

        Raises:
            ValueError: for more tokens than the model has room for, and for edits with a past,
                which could not reach the rows that are already there.
        """
        check(edits, self.config.depth, KINDS)
        before = seen_by(past and [block.causal for block in past.blocks], target.shape[1], edits)
        encoder = self._encoded(source, edits) if past is None else past.encoder
        mask = self._masks(source, target, before)
        relation = self.relation(target.shape[1]).since(before)
        x = self.embedding(target)[:, before:]
        states, blocks = [x], []
        for layer, block in enumerate(self.blocks):
            earlier = Both(None, None) if past is None else past.blocks[layer]
            edit = Both(at(edits, layer, "causal"), at(edits, layer, "cross"))
            x, both = block(
                x, encoder.hidden, mask=mask, relation=relation, past=earlier, edit=edit
            )
            states.append(x)
            blocks.append(both)
        hidden, shared = self.norm(x), self.config.share_target
        logits = self.output(hidden, self.embedding.tokens.weight if shared else None)
        return Seq2SeqOutput(logits, hidden, tuple(states), encoder, tuple(blocks))

    def _encoded(self, source: Tensor, edits: Sequence[Edit]) -> EncoderOutput:
        mine = [edit for edit in edits if getattr(edit, "kind", None) in (None, "self")]
        return self.encoder(source, padding=self._padding(source), edits=mine)

    def _masks(self, source: Tensor, target: Tensor, before: int) -> Both[Mask]:
        """Who sees whom, for the target's tokens from one position on."""
        fill, padding = self.config.mask_fill, self._padding(target)
        rows = None if padding is None else padding[:, before:]
        causal = Mask(causal=True, padding=padding, offset=before, fill=fill)
        return Both(causal, Mask(padding=self._padding(source), query_padding=rows, fill=fill))

    def _padding(self, ids: Tensor) -> Bool[Tensor, "batch token"] | None:
        """True where ids only fill up; None if none do, which leaves attention its fastest way."""
        found = ids == self.config.padding
        return found if bool(found.any()) else None

    def _draw(self) -> None:
        """Xavier for every matrix, embeddings included; biases zero."""
        for name, parameter in self.named_parameters():
            if parameter.ndim > 1:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        for tokens in (self.encoder.tokens, self.embedding.tokens):
            nn.init.zeros_(tokens.weight[self.config.padding])


def _block(config: Seq2SeqConfig) -> nn.Module:
    return DECODER_BLOCKS[config.norm](
        config.attention,
        config.mlp,
        activation=config.activation,
        dropout=config.dropout,
        eps=config.eps,
    )
