"""What the figure of sampling shows of logits and of one pass."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from models.attention import Pattern

BARS = 10  # words with a bar
FEATURES = 5  # of each key and value that are drawn
DRAWS = 1000


def drawn(
    logits: "Tensor", names: Sequence[str], temperature: float, k: int, p: float
) -> dict[str, Any]:
    """Probabilities of the likeliest words before and after the settings, and of all others.

    Args:
        logits: of all words.
        names: of the likeliest, in order.
        temperature: of the softmax.
        k: how many words are kept; 0 for all.
        p: how much probability is kept at least.
    """
    from models.lessons.sampling import draws, next_probabilities

    order = logits.argsort(descending=True, stable=True)
    plain = next_probabilities(logits)[order]
    warm = next_probabilities(logits, temperature=temperature)[order]
    limited = next_probabilities(logits, temperature=temperature, k=k)[order]
    chances = next_probabilities(logits, temperature=temperature, k=k, p=p)
    parts = {"plain": plain, "warm": warm, "drawn": chances[order]}
    return {
        "words": list(names),
        "logits": logits[order][:BARS].tolist(),
        **{each: part[:BARS].tolist() for each, part in parts.items()},
        "others": {each: part[BARS:].sum().item() for each, part in parts.items()},
        "together": limited.cumsum(0)[:BARS].tolist(),
        "count": len(logits),
        "kept": int((chances > 0).sum()),
        "cut": (warm * (chances[order] == 0)).sum().item(),
        "best": names[0],
        "times_drawn": draws(chances, DRAWS)[order[:BARS]].tolist(),
    }


def cached(pattern: "Pattern", head: int) -> dict[str, Any]:
    """Some features of a head's keys, values and queries, and its weights."""
    shared = head * pattern.k.shape[1] // pattern.q.shape[1]
    return {
        "keys": pattern.k[0, shared, :, :FEATURES].tolist(),
        "values": pattern.v[0, shared, :, :FEATURES].tolist(),
        "queries": pattern.q[0, head, :, :FEATURES].tolist(),
        "weights": pattern.weights(head, item=0).tolist(),
    }
