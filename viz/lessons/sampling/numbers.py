"""From logits to the probabilities that are drawn from, and what cached keys and values save."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.lessons.boards import Panel, table
from viz.lessons.trained import trained
from viz.lessons.writing import MODEL, Written, label
from viz.lessons.writing import written as written_after

if TYPE_CHECKING:
    from torch import Tensor

    from models.decoder import DecoderConfig, DecoderOutput

BARS = 10  # words with a bar
MOST = 12  # tokens that the picture has room for
LONGEST = 8  # of them, at the start
FEATURES = 5  # of each key and value that are drawn
LAYER, HEAD = 0, 0  # whose keys and values are drawn
LENGTHS = tuple(2**power for power in range(1, 13))
BYTES = 2  # of a cached number


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
        InputError: for words that the network does not know, or too many of them.
    """
    sample = written_after(start, LONGEST, MOST)
    logits = _pass(sample.ids).logits[0, sample.start - 1].float()
    return {
        **_drawn(logits, temperature, k, p),
        **_cached(sample, written),
        **_costs(length),
        "tables": [_draws(logits, temperature, k, p)],
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
        "words": [card.tokens[id] for id in order[:BARS].tolist()],
        "logits": logits[order][:BARS].tolist(),
        **{name: part[:BARS].tolist() for name, part in parts.items()},
        "others": {name: part[BARS:].sum().item() for name, part in parts.items()},
        "together": limited.cumsum(0)[:BARS].tolist(),
        "count": len(logits),
        "kept": int((drawn > 0).sum()),
        "cut": (warm * (drawn == 0)).sum().item(),
        "best": card.tokens[int(order[0])],
    }


def _cached(sample: Written, written: int) -> dict[str, Any]:
    """Keys and values of all tokens but the last, its query and weights, and the price."""
    from models.lessons.sampling import step_cost

    model, card = trained(MODEL)
    count = min(sample.start + written, len(sample.ids))
    names = [label(card.tokens[id]) for id in sample.ids]
    pattern = _pass(sample.ids).patterns[LAYER]
    weights = pattern.weights(HEAD, item=0)[count - 1, :count]
    config = model.network.config
    return {
        "tokens": names[:count],
        "begun": sample.start,
        "following": names[count] if count < len(names) else None,
        "keys": pattern.k[0, HEAD, :count, :FEATURES].tolist(),
        "values": pattern.v[0, HEAD, :count, :FEATURES].tolist(),
        "query": pattern.q[0, HEAD, count - 1, :FEATURES].tolist(),
        "weights": weights.tolist(),
        "difference": sample.difference,
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


@lru_cache(maxsize=256)
def _pass(ids: tuple[int, ...]) -> "DecoderOutput":
    """One forward pass over these tokens."""
    import torch

    with torch.no_grad():
        return trained(MODEL)[0].network(torch.tensor([ids]))


DRAWS, SEED = 1000, 0


def _draws(logits: "Tensor", temperature: float, k: int, p: float) -> Panel:
    """How often each of the likeliest words is drawn."""
    import torch

    from models.lessons.sampling import next_probabilities

    _, card = trained(MODEL)
    chances = next_probabilities(logits, temperature=temperature, k=k, p=p)
    dice = torch.Generator().manual_seed(SEED)
    drawn = torch.multinomial(chances, DRAWS, replacement=True, generator=dice)
    counts = drawn.bincount(minlength=len(chances))
    order = logits.argsort(descending=True, stable=True)[:BARS].tolist()
    rows = {card.tokens[id]: [chances[id].item(), str(int(counts[id]))] for id in order}
    return table(f"{DRAWS:,} draws", rows, ["probability", "drawn"])
