"""Dot products of random vectors as their width grows, with and without the division by √d.

If the elements of q and k are independent with mean 0 and variance 1, q·k has mean 0 and variance d
(Vaswani et al. 2017, footnote 4); divided by √d it has variance 1 at any width.
"""

from functools import lru_cache
from math import isfinite, sqrt
from typing import Any

import torch
from torch import Tensor

from models.attention import Dot, attend
from models.attention.scores import Additive, Bilinear, Score, softmax
from models.seeding import seeded
from viz.course import real
from viz.course.boards import Board, Panel, board, table
from viz.course.inputs import InputError
from viz.course.numbers import softened

WIDEST = 512
QUERIES, KEYS = 500, 8  # random queries, and keys of each
HIDDEN = 64  # units of the additive score
SPAN = 70  # of the histogram, on both sides of 0, in bins of width 1
EVERY = 4  # features between two points of a walk
COMPARED = 100  # queries whose scores are computed in three ways


def numbers(
    width: int,
    temperature: float,
    size: float,
    seed: int,
    q: list[float],
    key_width: int,
    scoring: str,
) -> dict[str, Any]:
    """The spread of the scores, the weights of one query, and one score in float16.

    Args:
        width: d, of queries and keys.
        temperature: divides the scaled scores of the one query.
        size: of every number of the vectors of the score in float16.
        seed: of the random queries and keys.
        q: a query of width 2 that attends to keys of another width.
        key_width: of those keys.
        scoring: how it is compared with them.
    """
    plain, root = _walks(seed)[width - 1], sqrt(width)
    kinds = {
        "": (plain, plain[0]),
        "scaled_": (plain / root, plain[0] / root),
        "tempered_": (plain / root / temperature, plain[0] / root / temperature),
    }
    figures = {}
    for kind, (every, scores) in kinds.items():
        weights = softened(scores)
        figures |= {
            f"{kind}scores": scores.tolist(),
            f"{kind}weights": weights.tolist(),
            f"{kind}slopes": slopes(weights).tolist(),
            f"{kind}largest": weights.max().item(),
        }
        if kind != "tempered_":
            counts = every.histc(2 * SPAN, -SPAN, SPAN)
            figures |= {
                f"{kind}variance": every.var(correction=0).item(),
                f"{kind}deviation": every.std(correction=0).item(),
                f"{kind}histogram": (counts / counts.max()).tolist(),
            }
    return {
        "width": width,
        "root": root,
        "seed": seed,
        "walks": _points(seed),
        **figures,
        "gap": (plain[0].max() - plain[0].sort().values[-2]).item(),
        **_means(width, seed),
        "others": _others(width, seed),
        "hidden": HIDDEN,
        "size": size,
        "product": width * size * size,
        **_halves(torch.full((width,), size)),
        "largest_half": torch.finfo(torch.half).max,
        "widths": _three_widths(q, key_width, scoring),
        "tables": [_every_width(seed), _costs(width)],
    }


def slopes(weights: Tensor) -> Tensor:
    """Derivative of each weight with respect to its own score: w (1 − w), from 0 to 1/4."""
    return weights * (1 - weights)


@lru_cache(maxsize=4)
def drawn(seed: int) -> tuple[Tensor, Tensor]:
    """Random queries "query 1 width", and keys "query key width" for each."""
    with seeded(seed):
        return torch.randn(QUERIES, 1, WIDEST), torch.randn(QUERIES, KEYS, WIDEST)


@lru_cache(maxsize=4)
def _walks(seed: int) -> Tensor:
    """Dot products "width query key", feature by feature: sums of the first 1 to `WIDEST`."""
    q, k = drawn(seed)
    return (q * k).cumsum(-1).permute(2, 0, 1).contiguous()  # those of one width lie together


@lru_cache(maxsize=8)
def _points(seed: int) -> list[list[float]]:
    """The walks of the first query: after 1 feature, and after every few more."""
    walks = _walks(seed)[:, 0].T.tolist()
    return [[round(each, 2) for each in (row[0], *row[EVERY - 1 :: EVERY])] for row in walks]


@lru_cache(maxsize=2048)
def _means(width: int, seed: int) -> dict[str, float]:
    """Means over all queries of the largest weight and of the largest slope."""
    scores = _walks(seed)[None, None, width - 1]
    plain, scaled = softmax(scores)[0, 0], softmax(scores / sqrt(width))[0, 0]
    return {
        "mean_largest": plain.amax(-1).mean().item(),
        "mean_scaled_largest": scaled.amax(-1).mean().item(),
        "mean_slope": slopes(plain).amax(-1).mean().item(),
        "mean_scaled_slope": slopes(scaled).amax(-1).mean().item(),
    }


@lru_cache(maxsize=2048)
def _others(width: int, seed: int) -> list[dict[str, Any]]:
    """Three ways to score the same pairs: the spread, and the scores and weights of one query."""
    q, k = (each[:COMPARED, :, :width] for each in drawn(seed))
    kinds = {"dot": _walks(seed)[width - 1, :COMPARED], **others(q, k, seed)}
    return [
        {
            "name": name,
            "deviation": scores.std(correction=0).item(),
            "scores": scores[0].tolist(),
            "weights": softened(scores[0]).tolist(),
        }
        for name, scores in kinds.items()
    ]


def others(q: Tensor, k: Tensor, seed: int) -> dict[str, Tensor]:
    """Bilinear and additive scores "query key", with random weights.

    The elements of M have variance 1/width, those of W and U 1/(2 width), those of v 1/hidden: with
    queries and keys of variance 1, qᵀMk has variance `width`, what goes into the tanh variance 1.
    """
    width = q.shape[-1]
    with seeded(seed):
        of_q, of_k = torch.randn(2, HIDDEN, width) / sqrt(2 * width)
        v = torch.randn(HIDDEN) / sqrt(HIDDEN)
        between = torch.randn(width, width) / sqrt(width)
    kinds = {"bilinear": Bilinear(between), "additive": Additive(of_q, of_k, v)}
    return {name: each.scores(q[:, None], k[:, None], [0])[:, 0, 0] for name, each in kinds.items()}


def _halves(vector: Tensor) -> dict[str, float | None]:
    """The score of a vector with itself in half precision, scaled after the product and before it.

    Scaling q and k by 1/∜d each keeps the terms small *before* they are summed. The largest float16
    number is 65,504: a larger product overflows to infinity, and dividing it afterwards does not
    bring it back.
    """
    root, low = sqrt(len(vector)), vector.half()
    product, fourth = low @ low, low / sqrt(root)
    halves = {"half_product": product, "late": product / root, "early": fourth @ fourth}
    finite = {name: float(each) if isfinite(each) else None for name, each in halves.items()}
    return {**finite, "exact": float(vector.double() @ vector.double()) / root}


WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
TOKENS, UNITS = 4096, 1024  # of a long text, and of a wide hidden layer


@lru_cache(maxsize=4)
def _every_width(seed: int) -> Panel:
    """Variances, and the mean largest weight of eight, at every width."""
    rows = {}
    for width in WIDTHS:
        means, variance = _means(width, seed), _walks(seed)[width - 1].var(correction=0).item()
        largest = (means["mean_largest"], means["mean_scaled_largest"])
        rows[f"d = {width}"] = [variance, variance / width, *largest]
    cols = ["variance of q·k", "of q·k / √d", "largest weight", "with √d"]
    return table("Dot products at every width", rows, cols)


def _costs(width: int) -> Panel:
    costs = pair_costs(TOKENS, width, UNITS)
    rows = {name: [f"{count:,}" for count in counts] for name, counts in costs.items()}
    title = f"Scores of {TOKENS:,} tokens of width {width}, {UNITS:,} hidden units"
    return table(title, rows, ["multiplications", "numbers in memory"])


def pair_costs(tokens: int, width: int, units: int) -> dict[str, tuple[int, int]]:
    """Multiplications of the scores of all pairs, and the numbers kept for the backward pass.

    q·k is one matrix product, of which only the scores are kept; vᵀ tanh(W q + U k) has a hidden
    layer for every pair (Bahdanau et al. 2015).
    """
    pairs = tokens * tokens
    hidden = pairs * units
    return {
        "dot product": (pairs * width, pairs),
        "additive": (2 * tokens * width * units + hidden, hidden),
    }


# ---- a query of width 2, ten keys of width 1, 2 or 3, and ten values of width 4

# Written by hand, with one decimal, so that every sum can be checked by hand as well.
TEN_KEYS = torch.tensor(
    [
        *([1.4, 0.3, -0.6], [-0.8, 1.1, 0.2], [0.5, -1.2, 0.9], [2.0, 0.7, 0.4]),
        *([-1.5, -0.4, 1.3], [0.1, 0.9, -1.1], [-0.3, -0.8, -0.2], [1.0, -0.5, 1.6]),
        *([-2.1, 0.6, -0.7], [0.7, 1.5, 0.5]),
    ]
)
TEN_VALUES = torch.tensor(
    [
        *([1.0, 0.2, -0.5, 0.8], [-0.6, 1.3, 0.4, -0.1], [0.3, -0.9, 1.2, 0.5]),
        *([2.0, -0.3, 0.1, -1.4], [-1.1, 0.7, -0.8, 0.6], [0.4, 1.6, 0.9, -0.7]),
        *([-0.2, -1.0, 0.3, 1.1], [0.9, 0.5, -1.3, 0.2], [-1.7, 0.1, 0.6, -0.4]),
        *([0.6, -0.7, 1.5, 0.9],),
    ]
)
BETWEEN = torch.tensor([[1.0, -0.5, 0.4], [0.6, 1.2, -0.9]])  # M
OF_QUERY = torch.tensor([[0.8, -0.4], [-0.6, 1.0], [0.5, 0.7]])  # W
OF_KEY = torch.tensor([[1.1, 0.3, -0.5], [0.7, -0.9, 0.4], [-1.2, 0.6, 0.8]])  # U
VECTOR = torch.tensor([1.5, -1.0, 2.0])  # v


def _three_widths(q: list[float], key_width: int, scoring: str) -> dict[str, Any]:
    """A query, keys and values of three widths; without scores where they cannot be compared.

    A dot product needs queries and keys of one width; a bilinear or an additive score does not.
    Values are never compared with anything: their width is that of the output.
    """
    query, keys = torch.tensor(q), TEN_KEYS[:, :key_width]
    between, of_key = BETWEEN[:, :key_width], OF_KEY[:, :key_width]
    given = {
        "scoring": scoring,
        "q": q,
        "keys": keys.tolist(),
        "values": TEN_VALUES.tolist(),
        "between": between.tolist(),
        "translated": (query @ between).tolist(),
        "of_query": OF_QUERY.tolist(),
        "of_key": of_key.tolist(),
        "query_part": (OF_QUERY @ query).tolist(),
        "vector": VECTOR.tolist(),
        "key_width": key_width,
        "comparable": scoring != "dot" or key_width == len(q),
    }
    if not given["comparable"]:
        return given
    score = score_of(scoring, key_width)
    batch = (each.expand(2, 1, *each.shape) for each in (query[None], keys, TEN_VALUES))
    values, pattern = attend(*batch, score=score)
    hidden = sum(score.hidden(query, keys)) if isinstance(score, Additive) else None
    return {
        **given,
        "scores": pattern.scores(0, item=0)[0].tolist(),
        "weights": pattern.weights(0, item=0)[0].tolist(),
        "hidden": hidden.tolist() if isinstance(hidden, Tensor) else None,
        "output": values[0, 0, 0].tolist(),
        "shape": str(tuple(values[:, 0].shape)),
    }


def score_of(scoring: str, key_width: int) -> Score:
    """The score with the matrices above, for keys of a width."""
    if scoring == "bilinear":
        return Bilinear(BETWEEN[:, :key_width])
    if scoring == "additive":
        return Additive(OF_QUERY, OF_KEY[:, :key_width], VECTOR)
    return Dot(scale=1.0)


# ---- the scores of SmolLM2

HEADS = ((0, 0), (6, 0), (16, 0), (18, 6), (24, 4), (29, 0))
WIDTH = 64  # of a head
MOST = 40  # tokens


def spread(sentence: str, seed: int) -> Board:
    """Spread of real scores beside that of random ones of the same width."""
    read = spreads(sentence)["rows"]
    means, deviation = _means(WIDTH, seed), _walks(seed)[WIDTH - 1].std(correction=0).item()
    largest = means["mean_scaled_largest"], means["mean_largest"]
    rows = {"random, N(0, 1)": [deviation, deviation / sqrt(WIDTH), *largest]}
    for each in read:
        row = [each[name] for name in ("deviation", "scaled", "largest", "unscaled")]
        rows[f"layer {each['layer']}, head {each['head']}"] = row
    widest = max(read, key=lambda row: row["scaled"])
    place = {"layer": widest["layer"], "head": widest["head"]}
    cols = ["σ of q·k", "σ of q·k / √64", "largest weight", "without √64"]
    return board(
        [table("Scores of heads of width 64", rows, cols, digits=2)],
        widest=widest["scaled"],
        unscaled=min(each["unscaled"] for each in read),
        **place,
        **real.about("smollm2", input=sentence, **place),
    )


@real.of("smollm2")
def spreads(text: str) -> dict[str, Any]:
    """Spread of the scores a query sees, and the largest weights, for some heads."""
    trace = real.traced("smollm2", text)
    count = len(trace.labels)
    if not 2 <= count <= MOST:
        raise InputError(f"expected 2 to {MOST} tokens, received {count}")
    rows = []
    for layer, head in HEADS:
        scores = trace.scores(layer, head)
        scaled, plain = scores.softmax(-1), (scores * WIDTH**0.5).softmax(-1)
        deviation = scores[scores.isfinite()].std(correction=0).item()
        rows.append(
            {
                "layer": layer,
                "head": head,
                "deviation": deviation * WIDTH**0.5,
                "scaled": deviation,
                "largest": scaled[1:].amax(-1).mean().item(),
                "unscaled": plain[1:].amax(-1).mean().item(),
            }
        )
    return {"tokens": count, "rows": rows}


BOARDS = {"spread": spread}
