"""What a network is made of and what it costs, from its config alone: nothing is built.

    parts(DecoderConfig(), tokens=12)      # the parts, in order
    total(parts(ViTConfig()), "parameters")

How FLOPs and memory are counted stands in models/cost/parts.py.
"""

from collections.abc import Iterator, Sequence

from models.attention.functional import BLOCK_BYTES
from models.cost.image import vit_parts
from models.cost.parts import NUMBER, Part, size
from models.cost.text import decoder_parts, encoder_parts, seq2seq_parts, smallest_parts
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.seq2seq import Seq2SeqConfig
from models.simple import SmallestConfig
from models.vit import ViTConfig

Config = EncoderConfig | DecoderConfig | Seq2SeqConfig | ViTConfig | SmallestConfig
QUANTITIES = ("parameters", "flops", "memory")
KEPT = ("projection", "add")  # what a trace keeps: q, k, v, and what goes from block to block
ROOM = 1.3  # measured: not all memory that is given back can be used again at once


def parts(config: Config, tokens: int = 16, target: int = 16) -> tuple[Part, ...]:
    """The parts of a network in order, for one item.

    Args:
        config: of the network; a vision transformer's image is that of its config.
        tokens: how many an encoder or decoder reads.
        target: how many the decoder of an encoder–decoder reads.

    Raises:
        ValueError: for no tokens, or more than the network has room for.
    """
    check_input(config, tokens, target)
    if isinstance(config, ViTConfig):
        found = vit_parts(config)
    elif isinstance(config, Seq2SeqConfig):
        found = seq2seq_parts(config, tokens, target)
    elif isinstance(config, DecoderConfig):
        found = decoder_parts(config, tokens)
    elif isinstance(config, EncoderConfig):
        found = encoder_parts(config, tokens)
    else:
        found = smallest_parts(config, tokens)
    return tuple(found)


def check_input(config: Config, tokens: int, target: int) -> None:
    """Raises ValueError for no tokens, or more than the network has room for."""
    if isinstance(config, ViTConfig):
        return
    for name, count in (("tokens", tokens), ("target", target)):
        if not 1 <= count <= config.max_tokens:
            raise ValueError(f"{name}: expected 1 to {config.max_tokens}, received {count}")


def needed(parts: Sequence[Part]) -> int:
    """Predicted peak of one traced pass in bytes, its network included.

    A trace keeps queries, keys and values of every layer and the states between blocks; on top
    comes the widest moment. A weight is never formed where the fused kernel runs; where values
    have a width of their own it is, in blocks.
    """
    leaves = [(times, part) for _, times, part in walk(parts) if not part.parts]
    kept = sum(times * size(part.gives) for times, part in leaves if part.kind in KEPT)
    widest = max(size(part.takes) + 2 * size(part.gives) for _, part in leaves)
    blocks = max((_weights(part) for _, part in leaves), default=0)
    moving = NUMBER * (kept + widest) + 3 * min(BLOCK_BYTES, NUMBER * blocks)
    return NUMBER * total(parts, "parameters") + round(ROOM * moving)


def _weights(part: Part) -> int:
    """How many weights have to be formed at once, in any case."""
    explicit = part.kind == "attend" and part.takes[-1] != part.gives[-1]
    return part.flops // (2 * (part.takes[-1][1] + part.gives[-1][1])) if explicit else 0


def total(parts: Sequence[Part], quantity: str) -> int:
    """Of all parts, repeated ones as often as they stand there.

    Args:
        parts: of a network, or of a part of it.
        quantity: one of `QUANTITIES`.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity: expected one of {', '.join(QUANTITIES)}, received {quantity}")
    return sum(part.times * getattr(part, quantity) for part in parts)


def walk(parts: Sequence[Part], above: str = "", times: int = 1) -> Iterator[tuple[str, int, Part]]:
    """Every part with its path ("blocks/attention/query") and how often it stands there."""
    for part in parts:
        path = f"{above}/{part.name}" if above else part.name
        yield path, times * part.times, part
        yield from walk(part.parts, path, times * part.times)
