"""Dot products of random vectors as their width grows, with and without the division by √d."""

from collections.abc import Mapping
from functools import lru_cache
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from viz.course.boards import Board, Panel, board, table
from viz.course.real import about
from viz.course.scale import real

if TYPE_CHECKING:
    from torch import Tensor

    from models.lessons.widths import Scoring

WIDEST = 512
SPAN = 70  # of the histogram, on both sides of 0, in bins of width 1
EVERY = 4  # features between two points of a walk
COMPARED = 100  # queries whose scores are computed in three ways
LARGEST_HALF = 65_504.0  # float16


def numbers(
    width: int,
    temperature: float,
    size: float,
    seed: int,
    q: list[float],
    key_width: int,
    scoring: "Scoring",
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
    import torch

    from models.lessons import scaling

    every = _walks(seed)[width - 1]
    scores = every[0]
    root = sqrt(width)
    plain, scaled = (scaling.softened(each) for each in (scores, scores / root))
    tempered = scaling.softened(scores / root, temperature)
    counts = every.histc(2 * SPAN, -SPAN, SPAN)
    scaled_counts = (every / root).histc(2 * SPAN, -SPAN, SPAN)
    low = scaling.halves(torch.full((width,), size), torch.full((width,), size))
    return {
        "width": width,
        "root": root,
        "seed": seed,
        "variance": every.var(correction=0).item(),
        "deviation": every.std(correction=0).item(),
        "scaled_variance": (every / root).var(correction=0).item(),
        "scaled_deviation": (every / root).std(correction=0).item(),
        "histogram": (counts / counts.max()).tolist(),
        "scaled_histogram": (scaled_counts / scaled_counts.max()).tolist(),
        "walks": _points(seed),
        "scores": scores.tolist(),
        "scaled_scores": (scores / root).tolist(),
        "tempered_scores": (scores / root / temperature).tolist(),
        "weights": plain.tolist(),
        "scaled_weights": scaled.tolist(),
        "tempered_weights": tempered.tolist(),
        "slopes": scaling.slopes(plain).tolist(),
        "scaled_slopes": scaling.slopes(scaled).tolist(),
        "tempered_slopes": scaling.slopes(tempered).tolist(),
        "largest": plain.max().item(),
        "scaled_largest": scaled.max().item(),
        "tempered_largest": tempered.max().item(),
        "gap": (scores.max() - scores.sort().values[-2]).item(),
        **_means(width, seed),
        "others": _others(width, seed),
        "hidden": scaling.HIDDEN,
        "size": size,
        "product": width * size * size,
        "half_product": _finite(low.product),
        "late": _finite(low.late),
        "early": _finite(low.early),
        "exact": low.exact,
        "largest_half": LARGEST_HALF,
        "widths": _three_widths(tuple(q), key_width, scoring),
        "tables": [_every_width(seed), _costs(width)],
    }


@lru_cache(maxsize=4)
def _walks(seed: int) -> "Tensor":
    """Dot products `width query key`: those of one width lie together in memory."""
    from models.lessons import scaling

    return scaling.walks(WIDEST, seed=seed).permute(2, 0, 1).contiguous()


@lru_cache(maxsize=8)
def _points(seed: int) -> list[list[float]]:
    """The walks of the first query: after 1 feature, and after every few more."""
    walks = _walks(seed)[:, 0].T
    rows = [[row[0], *row[EVERY - 1 :: EVERY]] for row in walks.tolist()]
    return [[round(each, 2) for each in row] for row in rows]


@lru_cache(maxsize=2048)
def _means(width: int, seed: int) -> dict[str, float]:
    """Means over all queries of the largest weight and of the largest slope."""
    from models.attention.scores import softmax
    from models.lessons import scaling

    scores = _walks(seed)[None, None, width - 1]
    plain, scaled = softmax(scores)[0, 0], softmax(scores / sqrt(width))[0, 0]
    return {
        "mean_largest": plain.amax(-1).mean().item(),
        "mean_scaled_largest": scaled.amax(-1).mean().item(),
        "mean_slope": scaling.slopes(plain).amax(-1).mean().item(),
        "mean_scaled_slope": scaling.slopes(scaled).amax(-1).mean().item(),
    }


@lru_cache(maxsize=4)
def _pairs(seed: int) -> tuple["Tensor", "Tensor"]:
    """The queries and keys that are compared, at the largest width."""
    from models.lessons import scaling

    return scaling.drawn(WIDEST, seed=seed)


@lru_cache(maxsize=2048)
def _others(width: int, seed: int) -> list[dict[str, Any]]:
    """Three ways to score the same pairs: the spread, and the scores and weights of one query."""
    from models.lessons import scaling

    q, k = (each[:COMPARED, :, :width] for each in _pairs(seed))
    dot = _walks(seed)[width - 1, :COMPARED]
    kinds = {"dot": dot, **scaling.others(q, k, seed=seed)}
    return [
        {
            "name": name,
            "deviation": scores.std(correction=0).item(),
            "scores": scores[0].tolist(),
            "weights": scaling.softened(scores[0]).tolist(),
        }
        for name, scores in kinds.items()
    ]


@lru_cache(maxsize=64)
def _three_widths(q: tuple[float, ...], key_width: int, scoring: "Scoring") -> dict[str, Any]:
    """A query, keys and values of three widths; without scores where they cannot be compared."""
    import torch

    from models.lessons import widths

    query, keys = torch.tensor(q), widths.KEYS[:, :key_width]
    between, of_key = widths.BETWEEN[:, :key_width], widths.OF_KEY[:, :key_width]
    given = {
        "scoring": scoring,
        "q": list(q),
        "keys": keys.tolist(),
        "values": widths.VALUES.tolist(),
        "between": between.tolist(),
        "translated": (query @ between).tolist(),
        "of_query": widths.OF_QUERY.tolist(),
        "of_key": of_key.tolist(),
        "query_part": (widths.OF_QUERY @ query).tolist(),
        "vector": widths.VECTOR.tolist(),
        "key_width": key_width,
        "comparable": scoring != "dot" or key_width == len(q),
    }
    if not given["comparable"]:
        return given
    compared = widths.three_widths(query, key_width, scoring)
    return {
        **given,
        "scores": compared.scores.tolist(),
        "weights": compared.weights.tolist(),
        "hidden": None if compared.hidden is None else compared.hidden.tolist(),
        "output": compared.output.tolist(),
        "shape": str(compared.shape),
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
TOKENS, UNITS = 4096, 1024  # of a long text, and of a wide hidden layer


@lru_cache(maxsize=4)
def _every_width(seed: int) -> Panel:
    """Variances, and the mean largest weight of eight, at every width."""
    rows: dict[str, list[float | str | None]] = {}
    for width in WIDTHS:
        every, means = _walks(seed)[width - 1], _means(width, seed)
        variance = every.var(correction=0).item()
        largest = (means["mean_largest"], means["mean_scaled_largest"])
        rows[f"d = {width}"] = [variance, variance / width, *largest]
    cols = ["variance of q·k", "of q·k / √d", "largest weight", "with √d"]
    return table("Dot products at every width", rows, cols)


def _costs(width: int) -> Panel:
    """Dot products and additive scores of all pairs of a long text."""
    from models.lessons import scaling

    costs = {
        "dot product": scaling.dot_costs(TOKENS, width),
        "additive": scaling.additive_costs(TOKENS, width, UNITS),
    }
    rows = {name: [f"{one.products:,}", f"{one.numbers:,}"] for name, one in costs.items()}
    title = f"Scores of {TOKENS:,} tokens of width {width}, {UNITS:,} hidden units"
    return table(title, rows, ["multiplications", "numbers in memory"])


def spread(values: Mapping[str, Any]) -> Board:
    """Spread of real scores beside that of random ones of the same width."""
    read = real.spread(values["sentence"])
    rows: dict[str, list[float | str | None]] = {}
    means = _means(real.WIDTH, values["seed"])
    every = _walks(values["seed"])[real.WIDTH - 1]
    deviation = every.std(correction=0).item()
    rows["random, N(0, 1)"] = [
        deviation,
        deviation / sqrt(real.WIDTH),
        means["mean_scaled_largest"],
        means["mean_largest"],
    ]
    for each in read["rows"]:
        rows[f"layer {each['layer']}, head {each['head']}"] = [
            each[name] for name in ("deviation", "scaled", "largest", "unscaled")
        ]
    widest = max(read["rows"], key=lambda row: row["scaled"])
    place = {"layer": widest["layer"], "head": widest["head"]}
    cols = ["σ of q·k", "σ of q·k / √64", "largest weight", "without √64"]
    return board(
        [table("Scores of heads of width 64", rows, cols, digits=2)],
        widest=widest["scaled"],
        unscaled=min(each["unscaled"] for each in read["rows"]),
        **place,
        **about(real.MODEL, input=values["sentence"], **place),
    )


BOARDS = {"spread": spread}
