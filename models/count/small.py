"""The smallest transformer, part by part, as numbers (see models/count/parts.py)."""

from models.count.blocks import attention
from models.count.parts import NUMBER, Part, Shape, add_norm, linear, size
from models.simple import Smallest, SmallestConfig, unscaled


def smallest_parts(config: SmallestConfig, words: int) -> list[Part]:
    """The parts of the smallest transformer; its words are random and never learned."""
    shape: Shape = (("tokens", words), ("dim", config.dim))
    runs, out = Smallest.forward, (shape[0], ("number", 1))
    layer = attention(unscaled(config.dim), words)
    told, kept = "E[id], random and not learned", NUMBER * size(shape)
    return [
        Part("input", "Word ids", "input", "ids", shape[:1], shape[:1], runs),
        Part("words", "Word vectors", "embedding", told, shape[:1], shape, runs, memory=kept),
        layer,
        add_norm("norm", layer.name, shape, runs),
        linear("out", "A number per word", shape, out, runs, memory=NUMBER * words),
    ]
