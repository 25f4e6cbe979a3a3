"""From logits to the probabilities that are drawn from, and what cached keys and values save."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.lessons.boards import Panel, table
from viz.lessons.real import about
from viz.lessons.sampling import parts, real

if TYPE_CHECKING:
    from models.decoder import DecoderConfig

MOST = 12  # tokens that the picture has room for
LONGEST = 8  # of them, at the start
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
        InputError: for too few words or too many.
    """
    import torch

    following = real.logits(start, LONGEST)
    drawn = parts.drawn(torch.tensor(following["logits"]), following["names"], temperature, k, p)
    return {
        **drawn,
        **_cached(start, written),
        **_costs(length),
        "tables": [_draws(drawn)],
        **about(real.MODEL, input=start, layer=real.LAYER, head=real.HEAD),
    }


def _cached(start: str, written: int) -> dict[str, Any]:
    """Keys and values of all tokens but the last, its query and weights, and the price."""
    whole = real.cached(start, LONGEST, MOST)
    tokens = whole["tokens"]
    count = min(whole["begun"] + written, len(tokens))
    return {
        "tokens": tokens[:count],
        "begun": whole["begun"],
        "following": tokens[count] if count < len(tokens) else None,
        "keys": whole["keys"][:count],
        "values": whole["values"][:count],
        "query": whole["queries"][count - 1],
        "weights": whole["weights"][count - 1][:count],
        "difference": whole["difference"],
        "small": real.price(count),
        "kept_kib": real.price(1)["kept"] * BYTES / 2**10,
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


def _draws(drawn: dict[str, Any]) -> Panel:
    """How often each of the likeliest words is drawn."""
    columns = zip(drawn["words"], drawn["drawn"], drawn["times_drawn"], strict=True)
    rows = {word: [chance, str(times)] for word, chance, times in columns}
    return table(f"{parts.DRAWS:,} draws", rows, ["probability", "drawn"])
