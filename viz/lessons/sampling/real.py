"""What SmolLM2 may write next, and what it keeps of a text, in our own code."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.lessons import real
from viz.lessons.sampling import parts
from viz.lessons.writing import goes_on

if TYPE_CHECKING:
    from models.decoder import DecoderOutput

MODEL = "smollm2"
LAYER, HEAD = 13, 8  # whose keys and values are drawn
SIZES: dict[str, Any] = {
    "vocab": 49152,
    "dim": 576,
    "depth": 30,
    "heads": 9,
    "kv_heads": 3,
    "mlp": 1536,
    "activation": "silu",
    "gated": True,
}


@real.of(MODEL)
def logits(text: str, longest: int) -> dict[str, Any]:
    """The next token's logits, and the names of the likeliest tokens.

    Args:
        text: the start.
        longest: number of tokens that it may have.
    """
    whole = _written(text, longest, longest + 1)
    last = _pass(tuple(whole["ids"][: whole["start"]])).logits[0, -1].float()
    order = last.argsort(descending=True, stable=True)
    return {"logits": last.tolist(), "names": [_name(id) for id in order[: parts.BARS].tolist()]}


@real.of(MODEL)
def cached(text: str, longest: int, most: int) -> dict[str, Any]:
    """Keys and values of a head for a text and what follows it, and each token's query and weights.

    Args:
        text: the start.
        longest: number of tokens that the start may have.
        most: number of tokens in all.
    """
    whole = _written(text, longest, most)
    ids = whole["ids"]
    pattern = _pass(tuple(ids)).patterns[LAYER]
    return {
        "tokens": [_name(id) for id in ids],
        "begun": whole["start"],
        **parts.cached(pattern, HEAD),
        "difference": whole["difference"],
    }


def price(count: int) -> dict[str, int]:
    """Of the token after a text of so many tokens."""
    from models.decoder import DecoderConfig
    from models.lessons.sampling import step_cost

    config = DecoderConfig(**SIZES)
    kept = step_cost(config, count, cached=True)
    return {
        "without": step_cost(config, count, cached=False).multiplications,
        "with": kept.multiplications,
        "kept": kept.kept,
    }


@lru_cache(maxsize=32)
def _written(text: str, longest: int, most: int) -> dict[str, Any]:
    model = real.opened(MODEL, "own")
    return goes_on(model.network, model.tokenizer, text, longest, most)


@lru_cache(maxsize=32)
def _pass(ids: tuple[int, ...]) -> "DecoderOutput":
    import torch

    with torch.no_grad():
        return real.opened(MODEL, "own").network(torch.tensor([ids]))


def _name(id: int) -> str:
    tokenizer: Any = real.opened(MODEL, "own").tokenizer
    return real.word(tokenizer.text([id]))
