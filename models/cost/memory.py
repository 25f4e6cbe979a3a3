"""Peak memory of a traced pass, predicted from a config before anything is allocated."""

from collections.abc import Sequence

from models.attention.functional import PASS_BYTES
from models.cost.count import total, walk
from models.cost.parts import NUMBER, Part, size

KEPT = ("projection", "add")  # what a trace keeps: q, k, v, and the hidden states between blocks
OVERHEAD = 1.3  # measured: memory fragmentation


def peak_memory(parts: Sequence[Part]) -> int:
    """The predicted peak of a traced pass of one item in bytes, weights included.

    A trace keeps queries, keys and values of every layer and the hidden states between blocks, plus
    the largest intermediate results of one block. Attention weights are formed only where the fused
    kernel cannot run, and then in blocks.

    Args:
        parts: of the whole network, from `count.parts`.
    """
    leaves = [(times, part) for _, times, part in walk(parts) if not part.parts]
    kept = sum(times * size(part.gives) for times, part in leaves if part.kind in KEPT)
    widest = max(size(part.takes) + size(part.gives) for _, part in leaves)
    weights = max((part.weights for _, part in leaves), default=0)
    activations = NUMBER * (kept + widest)
    activations += 3 * min(PASS_BYTES, NUMBER * weights)
    return NUMBER * total(parts, "parameters") + round(OVERHEAD * activations)
