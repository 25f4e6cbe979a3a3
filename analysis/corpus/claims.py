"""A sentence about a head, made from its numbers over a corpus, and how sure it is."""

import math
from collections.abc import Mapping
from typing import Any

from analysis.descriptions import EVEN, MOST, SHARES
from analysis.percent import percent

OBJECTS = {  # by number, what the share of a head's weight goes to in no particular text
    **{key: said.rstrip(".") for key, said in SHARES.items()},
    "first token": "goes to the first token",
    "separator": "goes to the tokenizer’s own tokens, the first aside",
}
SKEWED = 0.2  # of its half width, how far the middle of an interval is from the mean for "±"


def claim(numbers: Mapping[str, Mapping[str, Any]], *, pictures: bool) -> str | None:
    """What a head does on average, with the 95 % interval of the mean and how often it holds.

    Args:
        numbers: by the keys of `MEASURES`: "count", "mean", "low", "high" and "holds".
        pictures: whether the inputs are pictures.

    Returns:
        None for a head of which nothing is known.
    """
    if "confidence" not in numbers:
        return None
    shares = {key: each for key, each in numbers.items() if key in SHARES}
    best = max(shares, key=lambda key: shares[key]["mean"], default=None)
    inputs = "pictures" if pictures else "texts"
    over = f"Over {numbers['confidence']['count']:,} {inputs}"
    if best is not None and shares[best]["mean"] >= MOST:
        best_share = shares[best]
        every = best_share["count"] == numbers["confidence"]["count"]
        where = "" if every else f" (in the {best_share['count']:,} where it is defined)"
        return (
            f"{over}{where}, {_with_interval(best_share)} of its weight {OBJECTS[best]}; that share"
            f" is {percent(MOST)} or more in {percent(best_share['holds'])} of them."
        )
    broad, keys = numbers.get("broad"), numbers.get("effective keys")
    if broad is not None and keys is not None and broad["mean"] >= EVEN:
        return f"{over}, it spreads its weight almost evenly, over {keys['mean']:.0f} tokens."
    return (
        f"{over}, no one habit takes {percent(MOST)} of its weight; the largest weight of a"
        f" token is {_with_interval(numbers['confidence'])} on average."
    )


def _with_interval(number: Mapping[str, Any]) -> str:
    """A share with its interval: "71 ± 1.0 %", or near 0 and 1 "99.4 % (98.1 to 99.8 %)".

    Alone, "99.9 %", where the interval is narrower than its last digit.
    """
    mean, low, high = (number[name] for name in ("mean", "low", "high"))
    half = (high - low) / 2
    if math.isnan(half):
        return percent(mean)
    if half < 0.0005:
        return percent(mean, ".1f")
    digits = f".{0 if half >= 0.0995 else 1}f"
    if abs(high + low - 2 * mean) > SKEWED * 2 * half:
        return f"{percent(mean, digits)} ({100 * low:{digits}} to {percent(high, digits)})"
    return f"{100 * mean:.0f} ± {percent(half, digits)}"
