"""From SmolLM2's logits to the word that is drawn, and what a cache of keys and values saves."""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from models.decoder import DecoderConfig
from models.output import next_probabilities
from viz.course import real
from viz.course.boards import Board, board, table
from viz.course.numbers import smollm2_writes

MODEL = "smollm2"
LAYER, HEAD = 13, 8  # whose keys and values are drawn
LONGEST, MOST = 8, 12  # tokens of the start, and in all
BARS = 10  # words with a bar
FEATURES = 5  # of each key and value that are drawn
EXACT, EACH = 1024, 16  # logits stored one by one; of lower ones the middle of so many
LENGTHS = tuple(2**power for power in range(1, 13))
BYTES = 2  # of a cached number
SMOLLM2 = DecoderConfig(
    vocab=49152, dim=576, depth=30, heads=9, kv_heads=3, mlp=1536, activation="silu", gated=True
)
LARGER = DecoderConfig(vocab=50_000, dim=768, depth=12, heads=1, mlp=3072)


def numbers(start: str, temperature: float, k: int, p: float, written: int) -> dict[str, Any]:
    """The next word's probabilities, and the cache of one head."""
    following, whole = logits(start), cached(start)
    rest = torch.tensor(following["rest"]).repeat_interleave(EACH)
    tokens = whole["tokens"]
    count = min(whole["begun"] + written, len(tokens))
    return {
        "words": following["names"],
        "best": following["names"][0],
        **_drawn(torch.cat([torch.tensor(following["first"]), rest]), temperature, k, p),
        **{name: whole[name][:count] for name in ("tokens", "keys", "values")},
        "begun": whole["begun"],
        "following": tokens[count] if count < len(tokens) else None,
        "query": whole["queries"][count - 1],
        "weights": whole["weights"][count - 1][:count],
        "difference": whole["difference"],
        "small": _cost(SMOLLM2, count),
        "kept_kib": kept(SMOLLM2, 1) * BYTES / 2**10,
        **real.about(MODEL, input=start, layer=LAYER, head=HEAD),
    }


def _drawn(logits: Tensor, temperature: float, k: int, p: float) -> dict[str, Any]:
    """Probabilities of the likeliest words and of all others, of logits in descending order."""
    limits = {"plain": {}, "warm": {}, "drawn": {"k": k, "p": p}, "limited": {"k": k}}
    shares = {
        name: next_probabilities(logits, temperature=1 if name == "plain" else temperature, **limit)
        for name, limit in limits.items()
    }
    chances, together = shares["drawn"], shares.pop("limited").cumsum(0)
    return {
        "logits": logits[:BARS],
        **{name: share[:BARS] for name, share in shares.items()},
        "others": {name: share[BARS:].sum() for name, share in shares.items()},
        "together": together[:BARS],
        "count": len(logits),
        "kept": (chances > 0).sum(),
        "cut": shares["warm"][chances == 0].sum(),
    }


@real.of(MODEL)
def logits(text: str) -> dict[str, Any]:
    """The next token's logits in descending order; of lower ones, each stands for `EACH`."""
    whole = smollm2_writes(text, LONGEST, LONGEST + 1)
    last = _pass(tuple(whole["ids"][: whole["start"]])).logits[0, -1].float()
    logits, ids = last.sort(descending=True, stable=True)
    return {
        "first": logits[:EXACT],
        "rest": logits[EXACT + EACH // 2 :: EACH],
        "names": real.pieces(ids[:BARS]),
    }


@real.of(MODEL)
def cached(text: str) -> dict[str, Any]:
    """Some features of a head's keys, values and queries, for a text and what follows it."""
    whole = smollm2_writes(text, LONGEST, MOST)
    pattern = _pass(tuple(whole["ids"])).patterns[LAYER]
    shared = HEAD * pattern.k.shape[1] // pattern.q.shape[1]
    return {
        "tokens": [*map(real.piece, whole["ids"])],
        "begun": whole["start"],
        "keys": pattern.k[0, shared, :, :FEATURES],
        "values": pattern.v[0, shared, :, :FEATURES],
        "queries": pattern.q[0, HEAD, :, :FEATURES],
        "weights": pattern.weights(HEAD, item=0),
        "difference": whole["difference"],
    }


@lru_cache(maxsize=32)
def _pass(ids: tuple[int, ...]) -> Any:
    with torch.no_grad():
        return real.opened(MODEL).network(torch.tensor([ids]))


def _cost(config: DecoderConfig, length: int) -> dict[str, float]:
    without, cached = (multiplications(config, length, cached=each) for each in (False, True))
    memory = kept(config, length) * BYTES / 2**20
    return {"without": without, "with": cached, "times": without / cached, "memory": memory}


def costs(length: int) -> Board:
    """Multiplications for one more token of a decoder, with and without a cache, by length."""
    rows = {}
    for each in sorted({*LENGTHS, length}):
        without, cached, times, memory = _cost(LARGER, each).values()
        name = f"{'→ ' if each == length else ''}{each:,}"
        rows[name] = [f"{without:,}", f"{cached:,}", f"{times:,.1f}", f"{memory:,.1f} MiB"]
    cols = ["without a cache", "with a cache", "times", "cache, 16 bits"]
    title = "Multiplications for one more token, by tokens so far"
    return board([table(title, rows, cols)], **_cost(LARGER, length))


def multiplications(config: DecoderConfig, tokens: int, *, cached: bool) -> int:
    """To generate one token after a text: in the blocks, and in the last position's logits.

    In each block, of width d, with keys of width s in all heads and a hidden layer of width m:
    2 d² + 2 d s + 2 d m (3 d m with a gate) for each token that is worked out, and 2 d for each of
    its queries' keys, masked ones included. A cache leaves one token to work out instead of all.
    """
    width = config.dim
    new = 1 if cached else tokens
    matrices = 2 * width * (width + _shared(config))
    matrices += (3 if config.gated else 2) * width * config.mlp
    block = new * matrices + 2 * new * tokens * width
    return config.depth * block + width * config.vocab


def kept(config: DecoderConfig, tokens: int) -> int:
    """Numbers in the key–value cache after so many tokens."""
    return 2 * config.depth * tokens * _shared(config)


def _shared(config: DecoderConfig) -> int:
    """The width of the keys of all heads."""
    return config.dim * (config.kv_heads or config.heads) // config.heads


BOARDS = {"cost": costs}
