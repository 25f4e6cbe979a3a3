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
from viz.course.boards import Board, bars, board, panel, table
from viz.course.numbers import softened

WIDEST = 512
QUERIES, KEYS = 500, 8  # random queries, and keys of each
SPAN = 70  # of the histogram, on both sides of 0, in bins of width 1


def numbers(width: int, temperature: float, seed: int) -> dict[str, Any]:
    """The spread of the scores, the weights of one query."""
    every, root = _walks(seed)[width - 1], sqrt(width)
    figures: dict[str, Any] = {}
    for kind, by in (("", 1.0), ("scaled_", root), ("tempered_", root * temperature)):
        weights = softened(every[0] / by)
        figures |= {
            f"{kind}scores": every[0] / by,
            f"{kind}weights": weights,
            f"{kind}slopes": slopes(weights),
            f"{kind}largest": weights.max(),
        }
    first, second = every[0].topk(2).values
    return {
        "root": root,
        **figures,
        "scaled_variance": (every / root).var(correction=0),
        "gap": first - second,
        **_means(width, seed),
    }


def grow(width: int, seed: int) -> Board:
    """The distribution of the scores, with those within one standard deviation in colour."""
    every = _walks(seed)[width - 1]
    deviation = float(every.std(correction=0))
    side, places = min(SPAN, round(deviation)), [f"{at}" for at in range(-SPAN, SPAN)]
    names = [place.replace("-", "−") for place in places]
    title = f"{every.numel():,} products q·k, d = {width}; in colour: within one standard deviation"
    counts = every.histc(2 * SPAN, -SPAN, SPAN).tolist()
    return board(
        [bars(title, counts, names, (SPAN - side, SPAN + side), digits=-1)],
        variance=every.var(correction=0),
        deviation=deviation,
    )


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


def _means(width: int, seed: int) -> dict[str, Tensor]:
    """Means over all queries of the largest weight and of the largest slope."""
    means = {}
    for kind, by in (("mean_", 1.0), ("mean_scaled_", sqrt(width))):
        weights = softmax(_walks(seed)[None, None, width - 1] / by)[0, 0]
        means[f"{kind}largest"] = weights.amax(-1).mean()
        means[f"{kind}slope"] = slopes(weights).amax(-1).mean()
    return means


def halves(width: int, size: float) -> Board:
    """The score of a vector with itself in half precision, scaled after the product and before it.

    Scaling q and k by 1/∜d each keeps the terms small *before* they are summed. The largest float16
    number is 65,504: a larger product overflows to infinity, and dividing it afterwards does not
    bring it back.
    """
    vector, root = torch.full((width,), size), sqrt(width)
    low = vector.half()
    product, fourth = low @ low, low / sqrt(root)
    scores = {
        "q·k, float16": product,
        "(q·k) / √d, divided afterwards, float16": product / root,
        "(q / ∜d)·(k / ∜d), divided before, float16": fourth @ fourth,
        "the score itself, computed exactly": vector.double() @ vector.double() / root,
    }
    finite = [float(each) if isfinite(each) else None for each in scores.values()]
    written = ["∞" if each is None else f"{each:,.2f}" for each in finite]
    title = f"q and k: {width} numbers each, all {size:.1f}"
    rows = dict(zip(scores, ([each] for each in written), strict=True))
    named = dict(zip(("product", "late", "early", "exact"), finite, strict=True))
    rows["largest float16"] = [f"{torch.finfo(torch.half).max:,.0f}"]
    return board([table(title, rows, [])], **named)


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


def widths(q: list[float], key_width: int, scoring: str) -> Board:
    """A query, keys and values of three widths; without scores where they cannot be compared.

    A dot product needs queries and keys of one width; a bilinear or an additive score does not.
    """
    query, keys = torch.tensor(q), TEN_KEYS[:, :key_width]
    between, of_key = BETWEEN[:, :key_width], OF_KEY[:, :key_width]
    matrices = {
        "dot": {},
        "bilinear": {"M": between, "q^{T} M": query[None] @ between},
        "additive": {
            "W": OF_QUERY,
            "W q": OF_QUERY @ query[:, None],
            "U": of_key,
            "v": VECTOR[:, None],
        },
    }[scoring]
    above = [panel("q", [q], digits=1), *(panel(n, m) for n, m in matrices.items())]
    named = panel("keys", keys, rows=[f"k_{{{at}}}" for at in range(10)], digits=1)
    mixed = panel("values", TEN_VALUES, digits=1)
    if scoring == "dot" and key_width != len(q):
        said = [[f"q has {len(q)} numbers"], [f"a key has {key_width}"]]
        return board(above, [named, panel("q · k is not defined", said), mixed])
    batch = (each.expand(2, 1, *each.shape) for each in (query[None], keys, TEN_VALUES))
    values, pattern = attend(*batch, score=score_of(scoring, key_width))
    scores, weights = (each(0, item=0).T for each in (pattern.scores, pattern.weights))
    weighted = panel("weights", weights, kind="weights", digits=3)
    return board(
        above,
        [named, panel("scores", scores), weighted, mixed],
        [panel("output", values[0, 0])],
        shape=str(tuple(values[:, 0].shape)),
    )


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
    means, deviation = _means(WIDTH, seed), _walks(seed)[WIDTH - 1].std(correction=0)
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
    tokens, trace = real.encoded("smollm2", text, 2, MOST), real.traced("smollm2", text)
    rows = []
    for layer, head in HEADS:
        scores = trace.scores(layer, head)
        deviation = scores[scores.isfinite()].std(correction=0)
        scaled, plain = ((by * scores).softmax(-1)[1:].amax(-1) for by in (1, WIDTH**0.5))
        deviations = {"deviation": deviation * WIDTH**0.5, "scaled": deviation}
        largest = {"largest": scaled.mean(), "unscaled": plain.mean()}
        rows.append({"layer": layer, "head": head, **deviations, **largest})
    return {"tokens": len(tokens), "rows": rows}


BOARDS = {"grow": grow, "half": halves, "spread": spread, "widths": widths}
