"""A layer of several heads on four words, what their number costs, and the heads of MiniLM."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.api.figures.trained import encoded, network
from viz.api.requests import QuestionError

if TYPE_CHECKING:
    from models.attention import MultiHeadAttention

DIM, SEED = 12, 3
WORDS = ("the", "cat", "was", "tired")
COUNTS = (1, 2, 3, 4, 6, 12)  # of heads: the divisors of DIM
LOUD = 2.5  # deviation of the words' random numbers: the weights of such heads differ visibly
FEWEST, MOST = 4, 20  # tokens of a sentence for MiniLM


def numbers(
    heads: str, token: int, head: int, trained: str, sentence: str, layer: int
) -> dict[str, Any]:
    """The layer with random weights; MiniLM only where it is asked for.

    Args:
        heads: their number, one of `COUNTS`.
        token: index of the word that is followed.
        head: the chosen head; the last one where there are fewer.
        trained: "yes" for the heads of MiniLM.
        sentence: that MiniLM reads.
        layer: of MiniLM.
    """
    found = _layer(int(heads), token, min(head, int(heads) - 1))
    costs = {str(each): _costs(each) for each in COUNTS}
    return {
        **found,
        "costs": costs,
        "one": costs["1"],
        "now": costs[heads],
        "trained": _trained(sentence, layer, head) if trained == "yes" else None,
    }


def _made(heads: int) -> "MultiHeadAttention":
    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
    from models.seeding import seeded

    with seeded(SEED):
        return MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=heads)).eval()


@lru_cache(maxsize=64)
def _layer(heads: int, token: int, head: int) -> dict[str, Any]:
    """Every number of one word on its way through the layer."""
    import torch

    from models.lessons.followed import follow
    from models.seeding import seeded

    layer = _made(heads)
    with seeded(SEED):
        x = LOUD * torch.randn(1, len(WORDS), DIM)
    with torch.no_grad():
        out, pattern = layer(x)
    values = [follow(pattern, head=each).values[token] for each in range(heads)]
    parts = {"q": pattern.q, "k": pattern.k, "v": pattern.v}
    weights, scores = pattern.weights(item=0), pattern.scores(item=0)
    return {
        "words": WORDS,
        "token": token,
        "word": WORDS[token],
        "count": heads,
        "width": DIM // heads,
        "head": head,
        "x": x[0, token].tolist(),
        **{name: part[0, :, token].flatten().tolist() for name, part in parts.items()},
        "scores": scores.tolist(),
        "weights": weights.tolist(),
        "joined": torch.cat(values).tolist(),
        "out": out[0, token].tolist(),
        "stored": weights.numel(),
    }


@lru_cache(maxsize=len(COUNTS))
def _costs(heads: int) -> dict[str, int]:
    """Parameters of the layer, and its work on the four words: multiplications, exponentials."""
    from models.attention import MultiHeadAttentionConfig
    from models.cost import blocks

    part = blocks.attention(MultiHeadAttentionConfig(dim=DIM, heads=heads), len(WORDS))
    flops = {each.name: each.flops // 2 for each in part.parts}
    return {
        "parameters": part.parameters,
        "projections": sum(count for name, count in flops.items() if name != "attend"),
        "products": flops["attend"],
        "exponentials": heads * len(WORDS) ** 2,
    }


@lru_cache(maxsize=64)
def _trained(sentence: str, layer: int, head: int) -> dict[str, Any]:
    """The weights of a layer's heads on a sentence, and the habit each comes closest to.

    Raises:
        QuestionError: for a sentence of too few or too many tokens.
    """
    labels, weights, names, scores = _read(sentence)
    return {
        "tokens": labels,
        "weights": weights[layer],
        "names": names[layer],
        "scores": scores[layer],
        "layer": layer,
        "head": head,
        "name": names[layer][head],
        "score": scores[layer][head],
    }


@lru_cache(maxsize=16)
def _read(sentence: str) -> tuple[list[str], list[Any], list[Any], list[Any]]:
    from analysis.habits import habits
    from models.run import trace

    count = len(encoded("minilm", sentence))
    if not FEWEST <= count <= MOST:
        raise QuestionError(f"sentence: expected {FEWEST} to {MOST} tokens, received {count}")
    read = trace(network("minilm"), sentence)
    found = habits(read)
    weights = [_short(read.weights(site.layer).tolist()) for site in read.sites]
    return read.labels, weights, list(found.names), found.scores.amax(0).tolist()


def _short(numbers: Any) -> Any:
    """Nested lists of numbers, to four decimals."""
    if isinstance(numbers, list):
        return [_short(each) for each in numbers]
    return round(numbers, 4)
