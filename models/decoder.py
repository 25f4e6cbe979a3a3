"""The decoder: a stack of blocks with causal self-attention.

Trained to tell the next token it is a language model: with learned positions, pre-norm blocks and
`activation="gelu_tanh"` it is GPT-2 (Radford et al. 2019); with rotary positions, RMSNorm, a gated
feed-forward network and shared key heads it is Llama (Touvron et al. 2023).
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from models.attention import Edit, Mask, Pattern
from models.blocks import StackConfig, blocks_of, norm_of
from models.checks import check_choices, check_least, check_positive
from models.edits import BLOCK_EDITS, at, check, edited_state
from models.embedding import Embedding
from models.output import Projection
from models.positional import (
    POSITIONS,
    check_rotary,
    relation_of,
)
from models.progress import Progress, each, no_progress
from models.seeding import seeded, xavier
from models.where import Where, stack


@dataclass(frozen=True)
class DecoderConfig(StackConfig):
    """Everything that defines a decoder, its random weights included.

    The fields of its blocks and of their attention are those of `blocks.StackConfig`. With
    norm = "pre" it ends on one more norm.

    Attributes:
        vocab: how many token ids.
        dim: width of the model.
        head_dim: width of one head; None means dim / heads.
        value_dim: width of one head's values; None means that of its queries.
        kv_heads: number of heads of keys and values, which several heads of queries share; None
            means one for each.
        gated: whether the feed-forward network has a gate, and no biases (as in Llama).
        positions: one of `positional.POSITIONS`; the learned bias of "relative" is one table for
            all layers, as in T5.
        rotary_base: of the wavelengths of rotary positions.
        max_tokens: the longest input.
        embed_scale: whether embeddings are multiplied by √dim.
        tied: whether the output projection is the embedding (Press and Wolf 2017).
        mask_fill: the score of a hidden key, see `Mask.fill`.
    """

    vocab: int = 1000
    _: KW_ONLY
    dim: int = 64
    head_dim: int | None = None
    value_dim: int | None = None
    kv_heads: int | None = None
    gated: bool = False
    positions: str = "sinusoidal"
    rotary_base: float = 10_000.0
    max_tokens: int = 512
    embed_scale: bool = True
    tied: bool = True
    mask_fill: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least(self, {"vocab": 1, "max_tokens": 1})
        check_choices(self, {"positions": POSITIONS})
        check_positive(self, ("rotary_base",))
        check_rotary(self.positions, self.attention.width, self.attention.key_width)
        Mask(fill=self.mask_fill)  # which says what is wrong with it


@dataclass(frozen=True, eq=False)
class DecoderOutput:
    """Output of a forward pass; with a past, for the new tokens only.

    Attributes:
        logits: for each token, or the last ones, how likely each id is to come next.
        hidden: what the logits are made from.
        states: the embedding, then the output of each block: depth + 1 of them.
        patterns: one per block.
    """

    logits: Float[Tensor, "batch last vocab"]
    hidden: Float[Tensor, "batch token dim"]
    states: tuple[Float[Tensor, "batch token dim"], ...]
    patterns: tuple[Pattern, ...]

    @property
    def result(self) -> tuple[str, Tensor]:
        """The main output and its name."""
        return "logits", self.logits


class Decoder(nn.Module):
    """Token ids in, logits of the token after each out, and every head's pattern."""

    def __init__(self, config: DecoderConfig = DecoderConfig()) -> None:
        super().__init__()
        self.config = config
        with seeded(config.seed):
            self.embedding = Embedding(
                config.vocab,
                config.dim,
                positions=config.positions,
                max_tokens=config.max_tokens,
                scale=config.embed_scale,
                dropout=config.dropout,
            )
            self.relation = relation_of(
                config.positions,
                config.heads,
                config.attention.width,
                causal=True,
                base=config.rotary_base,
            )
            self.blocks = blocks_of(config, gated=config.gated)
            last = norm_of(config.norm_kind, config.dim, config.eps)
            self.norm = last if config.norm == "pre" else nn.Identity()
            self.output = Projection(config.dim, config.vocab, has_weight=not config.tied)
            self.apply(xavier)

    @property
    def sites(self) -> tuple[Where, ...]:
        """Its attention layers, in the order of their calls."""
        return stack(len(self.blocks), "causal", "blocks.{}.attention")

    def forward(
        self,
        ids: Int[Tensor, "batch token"],
        *,
        padding: Bool[Tensor, "batch token"] | None = None,
        edits: Sequence[Edit] = (),
        progress: Progress = no_progress,
        past: DecoderOutput | None = None,
        logits_to_keep: int | None = None,
    ) -> DecoderOutput:
        """Runs the decoder.

        Args:
            ids: token ids, those of the past included.
            padding: True at tokens that only fill the batch up.
            edits: interventions, in order.
            progress: called before each block and after the last; see `models.progress`.
            past: what an earlier pass over the first tokens returned: their keys and values are
                taken from its patterns, and only the tokens after them are worked out.
            logits_to_keep: how many tokens get logits, counted from the last; None means all.

        Raises:
            ValueError: for more tokens than the model has room for, and for edits with a past,
                which could not reach the rows that are already there.
        """
        check(edits, self.sites, BLOCK_EDITS)
        before = past_length(None if past is None else past.patterns[0].keys, ids.shape[1], edits)
        x = edited_state(self.embedding(ids)[:, before:], edits, Where(0), padding)
        mask = Mask(causal=True, padding=padding, offset=before, fill=self.config.mask_fill)
        relation = self.relation(ids.shape[1]).since(before)
        states, patterns = [x], []
        for layer, block in enumerate(each(self.blocks, progress)):
            earlier = None if past is None else past.patterns[layer]
            edit = at(edits, self.sites[layer])
            x, (pattern,) = block(x, mask=mask, relation=relation, past=earlier, edit=edit)
            x = edited_state(x, edits, Where(len(states)), padding)
            states.append(x)
            patterns.append(pattern)
        hidden = self.norm(x)
        last = hidden if logits_to_keep is None else hidden[:, -logits_to_keep:]
        logits = self.output(last, self.embedding.tokens.weight if self.config.tied else None)
        return DecoderOutput(logits, hidden, tuple(states), tuple(patterns))


def past_length(past: int | None, tokens: int, edits: Sequence[Edit]) -> int:
    """Number of tokens that the past contains: `past`, or 0 without one.

    Raises:
        ValueError: if none are new, or there are edits as well.
    """
    if past is None:
        return 0
    if edits:
        raise ValueError("edits: expected none with a past, whose rows they could not reach")
    if past >= tokens:
        raise ValueError(f"past: expected fewer than the {tokens} tokens given, received {past}")
    return past
