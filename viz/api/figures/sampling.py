"""From logits to the probabilities that are drawn from, and what cached keys and values save."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.api.figures.trained import encoded, trained
from viz.api.requests import QuestionError

if TYPE_CHECKING:
    from torch import Tensor

    from models.attention import Pattern
    from models.decoder import DecoderConfig

MODEL = "grammar-next"
SHOWN = 10  # words with a bar
MOST = 12  # tokens that the picture has room for
LONGEST = 8  # of them, at the start
FEATURES = 5  # of each key and value that are drawn
LAYER, HEAD = 0, 0  # whose keys and values are drawn
END = "."
LENGTHS = tuple(2**power for power in range(1, 13))
BYTES = 2  # of a cached number


@dataclass(frozen=True, eq=False)
class Read:
    """A text as the network goes on with it.

    Attributes:
        ids: of the start, then of what was written.
        start: number of tokens of the start.
        logits: after the start.
        pattern: of the drawn head's layer, for all ids.
        difference: largest difference of a probability with and without cached keys and values.
    """

    ids: tuple[int, ...]
    start: int
    logits: "Tensor"
    pattern: "Pattern"
    difference: float


def numbers(
    start: str, temperature: float, k: int, p: float, written: int, length: int
) -> dict[str, Any]:
    """The next word's probabilities, the cache of one head, and the price of one more token.

    Args:
        start: words.
        temperature: of the softmax.
        k: how many words are kept; 0 for all.
        p: how much probability is kept at least.
        written: number of tokens that the network adds.
        length: of a text that a larger network reads.

    Raises:
        QuestionError: for words that the network does not know, or too many of them.
    """
    found = _read(start)
    return {
        **_drawn(found.logits, temperature, k, p),
        **_cached(found, written),
        **_costs(length),
    }


def _drawn(logits: "Tensor", temperature: float, k: int, p: float) -> dict[str, Any]:
    """Probabilities of the likeliest words before and after the settings, and of all others."""
    from models.lessons.sampling import next_probabilities

    _, card = trained(MODEL)
    order = logits.argsort(descending=True, stable=True)
    plain = next_probabilities(logits)[order]
    warm = next_probabilities(logits, temperature=temperature)[order]
    limited = next_probabilities(logits, temperature=temperature, k=k)[order]
    drawn = next_probabilities(logits, temperature=temperature, k=k, p=p)[order]
    parts = {"plain": plain, "warm": warm, "drawn": drawn}
    return {
        "words": [card.tokens[id] for id in order[:SHOWN].tolist()],
        "logits": logits[order][:SHOWN].tolist(),
        **{name: part[:SHOWN].tolist() for name, part in parts.items()},
        "others": {name: part[SHOWN:].sum().item() for name, part in parts.items()},
        "together": limited.cumsum(0)[:SHOWN].tolist(),
        "count": len(logits),
        "kept": int((drawn > 0).sum()),
        "cut": (warm * (drawn == 0)).sum().item(),
        "best": card.tokens[int(order[0])],
    }


def _cached(found: Read, written: int) -> dict[str, Any]:
    """Keys and values of all tokens but the last, its query and weights, and the price."""
    from models.lessons.sampling import step_cost

    model, card = trained(MODEL)
    count = min(found.start + written, len(found.ids))
    names = [_shown(card.tokens[id]) for id in found.ids]
    pattern = found.pattern
    weights = pattern.weights(HEAD, item=0)[count - 1, :count]
    config = model.network.config
    return {
        "tokens": names[:count],
        "begun": found.start,
        "following": names[count] if count < len(names) else None,
        "keys": pattern.k[0, HEAD, :count, :FEATURES].tolist(),
        "values": pattern.v[0, HEAD, :count, :FEATURES].tolist(),
        "query": pattern.q[0, HEAD, count - 1, :FEATURES].tolist(),
        "weights": weights.tolist(),
        "difference": found.difference,
        "small": {
            "without": step_cost(config, count, cached=False).multiplications,
            "with": step_cost(config, count, cached=True).multiplications,
            "kept": step_cost(config, count, cached=True).kept,
        },
    }


@lru_cache(maxsize=256)
def _costs(length: int) -> dict[str, Any]:
    """One more token of a larger network, after a text of a length and of `LENGTHS`."""
    from models.decoder import DecoderConfig

    config = DecoderConfig(vocab=50_000, dim=768, depth=12, heads=1, mlp=3072)
    now = _cost(config, length)
    return {
        "length": length,
        **now,
        "times": now["without"] / now["with"],
        "curve": [{"length": each, **_cost(config, each)} for each in LENGTHS],
    }


def _cost(config: "DecoderConfig", length: int) -> dict[str, Any]:
    from models.lessons.sampling import step_cost

    cached = step_cost(config, length, cached=True)
    return {
        "without": step_cost(config, length, cached=False).multiplications,
        "with": cached.multiplications,
        "memory": cached.kept * BYTES / 2**20,
    }


@lru_cache(maxsize=64)
def _read(start: str) -> Read:
    import torch

    from models.decode import greedy

    model, card = trained(MODEL)
    unknown = [word for word in start.lower().split() if word not in card.tokens]
    if unknown:
        raise QuestionError(f"expected words such as king, dog, saw, the; received {unknown[0]!r}")
    ids = list(encoded(MODEL, start).ids)
    if not 2 <= len(ids) <= LONGEST:
        raise QuestionError(f"expected 1 to {LONGEST - 1} words, received {len(ids) - 1}")
    end, room = card.tokens.index(END), MOST - len(ids)
    runs = [
        list(greedy(model.network, torch.tensor([ids]), end=end, limit=room, cached=cached))
        for cached in (True, False)
    ]
    pairs = zip(*runs, strict=True)
    difference = max(float((a.probabilities - b.probabilities).abs().max()) for a, b in pairs)
    whole = (*ids, *(int(step.ids[0]) for step in runs[0]))
    with torch.no_grad():
        pattern = model.network(torch.tensor([whole])).patterns[LAYER]
    return Read(whole, len(ids), runs[0][0].logits[0].float(), pattern, difference)


def _shown(token: str) -> str:
    """A token as a label: the begin symbol without its brackets."""
    return "begin" if token == "[BEGIN]" else token
