"""Work and memory of a traced pass of any model, known before it runs."""

from typing import Any, NamedTuple

from models.free_memory import GIB, SHARE, available_memory
from models.loading import summary
from models.model import Model

NUMBER = 4  # bytes of a float32
MOST_LOGITS = 2**28  # bytes; of more, those of the last token are kept
ATTENTION = 4  # FLOPs per query, key and feature: two matrix products


class Estimate(NamedTuple):
    """What a traced pass takes beyond the loaded model."""

    flops: int  # of its matrix products
    bytes: int  # peak memory


def estimate(model: Model, tokens: int) -> Estimate:
    """The estimate for one text.

    Each weight outside the embeddings is taken to multiply every token once, and two hidden layers
    of a feed-forward network to be held beside what the trace keeps.
    """
    logits = NUMBER * (tokens if kept_logits(model, tokens) is None else 1) * _vocab(model)
    towers = summary.parts(model)
    dim = max((part.dim or 0 for part in towers), default=0)
    layers = sum(part.layers or 0 for part in towers)
    wide = max((part.mlp or 4 * dim for part in towers), default=0)
    weights = sum(each.numel() for each in model.network.parameters()) - dim * _vocab(model)
    flops = 2 * tokens * max(weights, 0) + ATTENTION * layers * dim * tokens**2
    shares = ((part, (part.kv_heads or 1) / (part.heads or 1)) for part in towers)
    kept = sum((part.layers or 0) * (part.dim or 0) * (1 + 2 * share) for part, share in shares)
    size = next(model.network.parameters()).element_size()  # of q, k and v
    held = round(kept) * size * tokens + NUMBER * tokens * (2 * wide + 2 * dim)
    return Estimate(flops, held + logits)


def check_memory(model: Model, tokens: int) -> None:
    """Raises ValueError with the numbers if a pass does not fit into free memory."""
    needed, free = estimate(model, tokens).bytes, available_memory(str(model.device))
    if free is not None and needed > SHARE * free:
        raise ValueError(
            f"{tokens:,} tokens need about {needed / GIB:.1f} GiB of memory and"
            f" {free / GIB:.1f} GiB are free: shorten the text"
        )


def kept_logits(model: Model, tokens: int) -> int | None:
    """How many tokens of a text need logits (see `models.run.trace`): one of a long text."""
    return 1 if NUMBER * tokens * _vocab(model) > MOST_LOGITS else None


def _vocab(model: Model) -> int:
    config: Any = model.network.config
    return getattr(config, "vocab", None) or getattr(config, "vocab_size", None) or 0
