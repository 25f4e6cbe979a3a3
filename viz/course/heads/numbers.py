"""A layer of several heads on four words, what their number costs, and the heads of MiniLM."""

from functools import cache, lru_cache
from math import sqrt
from typing import Any

import torch

from analysis.descriptions import habits
from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.request import Source, TraceRequest, built
from models.seeding import seeded
from viz.course import real
from viz.course.boards import Board, board, network, table

DIM, SEED = 12, 3
WORDS = ("the", "cat", "was", "tired")
COUNTS = (1, 2, 3, 4, 6, 12)  # of heads: the divisors of DIM
LOUD = 2.5  # deviation of the words' random numbers: the weights of such heads differ visibly
EIGHT = 8  # heads of the first transformer
FEWEST, MOST = 4, 20  # tokens of a sentence for MiniLM


def numbers(
    heads: str,
    token: int,
    head: int,
    trained: str,
    sentence: str,
    layer: int,
) -> dict[str, Any]:
    """The layer with random weights; MiniLM only where it is asked for."""
    answer = {**_layer(int(heads), token, min(head, int(heads) - 1)), "trained": None}
    if trained == "no":
        return answer
    labels, *of_layers = _read(sentence)
    of_layer = zip(("weights", "names", "scores"), of_layers, strict=True)
    named = {name: each[layer] for name, each in of_layer}
    return answer | {"trained": {"tokens": labels, **named, "layer": layer, "head": head}}


@lru_cache(maxsize=64)
def _layer(heads: int, token: int, head: int) -> dict[str, Any]:
    """Every number of one word on its way through the layer."""
    with seeded(SEED):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=heads)).eval()
    with seeded(SEED):
        x = LOUD * torch.randn(1, len(WORDS), DIM)
    with torch.no_grad():
        out, pattern = layer(x)
    weights = pattern.weights(item=0)
    parts = {
        "q": pattern.q[0],
        "k": pattern.k[0],
        "v": pattern.v[0],
        "joined": weights @ pattern.v[0],
    }
    return {
        "words": WORDS,
        "word": WORDS[token],
        "count": heads,
        "width": DIM // heads,
        "head": head,
        "x": x[0, token],
        **{name: part[:, token].flatten() for name, part in parts.items()},
        "scores": pattern.scores(item=0),
        "weights": weights,
        "out": out[0, token],
    }


@lru_cache(maxsize=16)
def _read(sentence: str) -> tuple[Any, ...]:
    """Tokens of a sentence, MiniLM's weights, and the habit each head comes closest to."""
    real.encoded("minilm", sentence, FEWEST, MOST)
    read = real.traced("minilm", sentence)
    result = habits(read)
    weights = [read.weights(site.layer).double().round(decimals=4) for site in read.sites]
    return read.labels, weights, result.names, result.scores.amax(0)


def cell(sentence: str, layer: int, head: int, query: int, key: int) -> Board:
    """A head of MiniLM, and how one of its scores comes about."""
    real.encoded("minilm", sentence, FEWEST, MOST)
    read = real.traced("minilm", sentence)
    at, to = (min(each, len(read.labels) - 1) for each in (query, key))
    width, score = read.pattern(layer).q.shape[-1], read.scores(layer)[head, at, to]
    place = {"layer": layer, "head": head, "token": at, "partner": to}
    return network(
        TraceRequest(Source("catalogue", "minilm"), sentence),
        f"h:{layer}:{head}",
        f"n:scores:{at}:{to}",
        asks=read.labels[at],
        asked=read.labels[to],
        width=width,
        sum=score * sqrt(width),
        score=score,
        weight=read.weights(layer, head)[at, to],
        of_map=len(read.labels) ** 2 * width,
        **real.about("minilm", form="head", input=sentence, **place),
    )


@cache
def costs(heads: str) -> Board:
    """Parameters of the layer, and its work on the four words, by the number of heads."""
    count = len(WORDS)

    def row(heads: int) -> list[int]:
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=heads))
        parameters = sum(each.numel() for each in layer.parameters())
        return [parameters, 4 * count * DIM**2, 2 * count**2 * DIM, heads * count**2]

    rows = {each: row(each) for each in COUNTS}
    parameters, projections, products, exponentials = rows[int(heads)]
    cols = ["parameters", "projections", "q·k, weights·v", "exponentials"]
    names = {each: "1 head" if each == 1 else f"{each} heads" for each in COUNTS}
    names[int(heads)] = f"→ {names[int(heads)]}"
    named = {names[each]: [f"{n:,}" for n in numbers] for each, numbers in rows.items()}
    return board(
        [table("Multiplications and exponentials for four words", named, cols)],
        heads=int(heads),
        parameters=parameters,
        projections=projections,
        products=products,
        exponentials=exponentials,
        one=rows[1][-1],
    )


def eight() -> Board:
    """An untrained layer of eight heads on the four words."""
    sizes = {"dim": 2 * EIGHT, "depth": 1, "heads": EIGHT, "qkv_bias": False, "seed": SEED}
    request = TraceRequest(built("encoder", sizes), " ".join(WORDS))
    return network(request, "m:blocks.0.attention", "h:0:0")


# layers that courses build: batch, tokens and width of the input, then the layer's
LAYERS: dict[str, tuple[tuple[int, int, int], dict[str, Any]]] = {
    "8 heads of 64 in 128": ((1, 257, 128), {"dim": 128, "heads": 8, "head_dim": 64}),
    "20 heads of 10 in 10": ((8, 5, 10), {"dim": 10, "heads": 20, "head_dim": 10}),
    "5 heads of 20, 5 to 100": ((16, 5, 5), {"dim": 100, "heads": 5, "input_dim": 5}),
}


def shapes() -> Board:
    """The shapes of three layers, step by step, and the parameters without biases."""
    columns = []
    for (batch, tokens, reads), fields in LAYERS.values():
        config = MultiHeadAttentionConfig(**fields, qkv_bias=False, out_bias=False)
        heads, width = config.heads, config.width
        sizes = {
            "x": (batch, tokens, reads),
            "q, k, v": (batch, tokens, heads * width),
            "split": (batch, heads, tokens, width),
            "merged for bmm": (batch * heads, tokens, width),
            "weights": (batch, heads, tokens, tokens),
            "joined": (batch, tokens, heads * width),
            "out": (batch, tokens, config.dim),
        }
        count = sum(each.numel() for each in MultiHeadAttention(config).parameters())
        column = {name: " × ".join(map(str, size)) for name, size in sizes.items()}
        columns.append({**column, "parameters": f"{count:,}"})
    rows = {name: [column[name] for column in columns] for name in columns[0]}
    return board([table("Shapes", rows, [*LAYERS])])


BOARDS = {"cell": cell, "cost": costs, "eight": eight, "shapes": shapes}
