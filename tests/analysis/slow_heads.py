"""The numbers of a head, term by term."""

import math
from collections.abc import Iterable, Sequence

from torch import Tensor

from analysis.measures import NEAR


def slow_numbers(
    weights: Tensor,
    names: Sequence[str],
    special: Sequence[bool],
    seen: Sequence[Sequence[int]],
    *,
    causal: bool,
    sinks: Tensor | None = None,
) -> dict[str, float]:
    """The numbers of one head over its own tokens.

    Args:
        weights: `query key`.
        names: of the keys; equal tokens have equal names.
        special: which keys are the tokenizer's own.
        seen: the keys that each query sees.
        causal: whether only earlier tokens count as others.
        sinks: the weight of each query on the sink of its softmax, which is one more key.
    """
    of, count = weights.tolist(), len(names)
    text = [not each for each in special]
    rows = [row for row in range(len(of)) if len(seen[row]) > 1 and (text[row] or not any(text))]

    def mean(terms: Iterable[float]) -> float:
        found = list(terms)
        return sum(found) / len(found) if found else math.nan

    more = [0.0] * len(of) if sinks is None else sinks.tolist()

    def entropy(row: int) -> float:
        return -sum(w * math.log(w) for w in [*of[row], more[row]] if w)

    def keys(row: int) -> int:
        return len(seen[row]) + (sinks is not None)

    def on(keys: dict[int, list[int]]) -> float:
        """The weight of each row on some keys, where it sees any of them."""
        return mean(sum(of[r][j] for j in keys[r]) for r in rows if set(keys[r]) & set(seen[r]))

    def at(offset: int) -> float:
        return on({r: [r + offset] for r in rows})

    def equal(row: int) -> list[int]:
        others = range(row if causal else count)
        same = [j for j in others if j != row and names[j] == names[row]]
        return [] if special[row] else [j for j in same if not special[j]]

    def after(row: int) -> list[int]:
        twins = [j for j in range(row) if names[j] == names[row] and not special[row]]
        return [j + 1 for j in twins if j + 1 < row]

    separators = [j for j in range(1, count) if special[j]]
    punctuation = [j for j in range(count) if names[j] in ".,"]
    apart = {r: {j: abs(r - j) for j in seen[r]} for r in rows}
    distance = mean(sum(of[r][j] * d for j, d in apart[r].items()) / sum(of[r]) for r in rows)
    square = mean(sum(of[r][j] * d**2 for j, d in apart[r].items()) / sum(of[r]) for r in rows)
    drawn = {j: [of[r][j] for r in rows if j in seen[r]] for j in range(count)}
    groups: dict[int, list[float]] = {}
    for r in rows:
        for j in seen[r]:
            groups.setdefault(r - j, []).append(of[r][j])
    everything = [w for group in groups.values() for w in group]
    middle = sum(everything) / len(everything)
    between = sum(len(g) * (sum(g) / len(g) - middle) ** 2 for g in groups.values())
    variance = sum((w - middle) ** 2 for w in everything)
    return {
        "previous token": at(-1),
        "next token": at(1),
        "same token": at(0),
        "duplicate token": on({r: equal(r) for r in rows}),
        "induction": on({r: after(r) for r in rows}),
        "first token": mean(of[r][0] for r in rows if r > 0 and 0 in seen[r]),
        "separator": on(dict.fromkeys(rows, separators)),
        "punctuation": on(dict.fromkeys(rows, punctuation)),
        "local": mean(sum(of[r][j] for j, d in apart[r].items() if d <= NEAR) for r in rows),
        "broad": mean(entropy(r) / math.log(keys(r)) for r in rows),
        "entropy": mean(entropy(r) for r in rows),
        "effective keys": mean(math.exp(entropy(r)) for r in rows),
        "confidence": mean(max(of[r]) for r in rows),
        "sink share": max(
            (sum(each) / len(each) for each in drawn.values() if 2 * len(each) >= len(rows)),
            default=math.nan,
        ),
        "distance": distance,
        "distance spread": math.sqrt(max(0.0, square - distance**2)),
        "positional": between / variance if variance > 1e-9 else math.nan,
    }
