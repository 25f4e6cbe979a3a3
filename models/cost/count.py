"""Parts, parameters and FLOPs of a network, from its config alone.

    parts(DecoderConfig(), tokens=12)      # the parts, in order
    total(parts(ViTConfig()), "parameters")

models/cost/parts.py defines how FLOPs are counted.
"""

from collections.abc import Iterator, Sequence

from models.cost.parts import Part
from models.cost.text import (
    decoder_parts,
    encoder_parts,
    layer_parts,
    seq2seq_parts,
    smallest_parts,
)
from models.cost.vit import vit_parts
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.layer import AttentionLayerConfig
from models.model import Config
from models.seq2seq import Seq2SeqConfig
from models.smallest import SmallestConfig
from models.vit import ViTConfig

COUNTED = (
    EncoderConfig,
    DecoderConfig,
    Seq2SeqConfig,
    ViTConfig,
    SmallestConfig,
    AttentionLayerConfig,
)
QUANTITIES = ("parameters", "flops")


def parts(config: Config, tokens: int = 16, target: int = 16) -> tuple[Part, ...]:
    """The parts of a network in order, for one item.

    Args:
        config: of the network; a vision transformer's image size comes from its config.
        tokens: input length of an encoder, decoder, or encoder of an encoder–decoder.
        target: input length of the decoder of an encoder–decoder.

    Raises:
        ValueError: for no tokens, or more than the network's maximum; for a kind of network whose
            parts are not counted.
    """
    check_input(config, tokens, target)
    if isinstance(config, ViTConfig):
        costs = vit_parts(config)
    elif isinstance(config, Seq2SeqConfig):
        costs = seq2seq_parts(config, tokens, target)
    elif isinstance(config, DecoderConfig):
        costs = decoder_parts(config, tokens)
    elif isinstance(config, EncoderConfig):
        costs = encoder_parts(config, tokens)
    elif isinstance(config, AttentionLayerConfig):
        costs = layer_parts(config, tokens, target)
    elif isinstance(config, SmallestConfig):
        costs = smallest_parts(config, tokens)
    else:
        kinds = ", ".join(kind.__name__ for kind in COUNTED)
        raise ValueError(f"cost: expected one of {kinds}, received {type(config).__name__}")
    return tuple(costs)


def is_counted(config: object) -> bool:
    """Whether `parts` knows this kind of network: a recurrent one it does not."""
    return isinstance(config, COUNTED)


def check_input(config: Config, tokens: int, target: int) -> None:
    """Raises ValueError for no tokens, or more than the network has room for."""
    if isinstance(config, ViTConfig):
        return
    for name, count in (("tokens", tokens), ("target", target)):
        if not 1 <= count <= config.max_tokens:
            raise ValueError(f"{name}: expected 1 to {config.max_tokens}, received {count}")


def total(parts: Sequence[Part], quantity: str) -> int:
    """The total of all parts, counting every copy of repeated ones.

    Args:
        parts: of a network, or of a part of it.
        quantity: one of `QUANTITIES`.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity: expected one of {', '.join(QUANTITIES)}, received {quantity}")
    return sum(part.times * getattr(part, quantity) for part in parts)


def walk(parts: Sequence[Part], above: str = "", times: int = 1) -> Iterator[tuple[str, int, Part]]:
    """Every part with its path ("blocks/attention/query") and its number of copies."""
    for part in parts:
        path = f"{above}/{part.name}" if above else part.name
        yield path, times * part.times, part
        yield from walk(part.parts, path, times * part.times)
