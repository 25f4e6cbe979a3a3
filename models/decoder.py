"""The decoder: a stack of blocks with causal self-attention.

Trained to tell the next token it is a language model: with learned positions, pre-norm blocks and
`activation="gelu_tanh"` it is GPT-2 (Radford et al. 2019); with rotary positions, RMSNorm, a gated
feed-forward network and shared key heads it is Llama (Touvron et al. 2023).
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from jaxtyping import Bool, Int
from torch import Tensor, nn

from models.attention import Edit, Mask
from models.attention.relative import RelativePositions
from models.blocks import Embedding, StackOutput, TextConfig, blocks_of, run_blocks
from models.edits import BLOCK_EDITS, check
from models.output import Projection
from models.progress import Progress, no_progress
from models.seeding import seeded, xavier
from models.where import Where, stack


@dataclass(frozen=True)
class DecoderConfig(TextConfig):
    """Everything that defines a decoder, its random weights included.

    The fields that other networks of tokens have too are those of `blocks.TextConfig`.

    Attributes:
        vocab: how many token ids.
        head_dim: width of one head; None means dim / heads.
        value_dim: width of one head's values; None means that of its queries.
        kv_heads: number of heads of keys and values, which several heads of queries share; None
            means one for each.
        gated: whether the feed-forward network has a gate, and no biases (as in Llama).
        rotary_base: of the wavelengths of rotary positions.
        embed_scale: whether embeddings are multiplied by √dim.
        tied: whether the output projection is the embedding (Press and Wolf 2017).
    """

    vocab: int = 1000
    _: KW_ONLY
    head_dim: int | None = None
    value_dim: int | None = None
    kv_heads: int | None = None
    gated: bool = False
    rotary_base: float = 10_000.0
    embed_scale: bool = True
    tied: bool = True


class Decoder(nn.Module):
    """Token ids in, logits of the token after each out, and every head's pattern."""

    def __init__(self, config: DecoderConfig = DecoderConfig()) -> None:
        super().__init__()
        self.config = config
        with seeded(config.seed):
            self.embedding = Embedding(config, config.vocab, scale=config.embed_scale)
            more = {"causal": True, "base": config.rotary_base}
            width = config.attention.width
            self.relation = RelativePositions(config.positions, config.heads, width, **more)
            self.blocks = blocks_of(config, gated=config.gated)
            self.norm = config.norm_if(config.ends_on_norm)
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
        past: StackOutput | None = None,
        logits_to_keep: int | None = None,
    ) -> StackOutput:
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
        states, patterns = run_blocks(
            self.blocks,
            self.embedding(ids)[:, before:],
            self.sites,
            lambda layer: {"past": None if past is None else past.patterns[layer]},
            edits=edits,
            padding=padding,
            progress=progress,
            mask=Mask(causal=True, padding=padding, offset=before, fill=self.config.mask_fill),
            relation=self.relation(ids.shape[1]).since(before),
        )
        hidden = self.norm(states[-1])
        last = hidden if logits_to_keep is None else hidden[:, -logits_to_keep:]
        logits = self.output(last, self.embedding.tokens.weight if self.config.tied else None)
        return StackOutput(hidden, states, patterns, logits)


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
