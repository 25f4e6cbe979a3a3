"""A soft dictionary lookup: similarities of a query with every key, weights, a weighted sum.

    answer = Σᵢ α(q, kᵢ) vᵢ          (attention pooling: Nadaraya 1964, Watson 1964)

α is a similarity, normalised or not; the weights alone determine which of the classical cases
applies (`case`).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from models.lessons import followed
from models.run import Model, trace

NORMALISATIONS = ("none", "one-hot", "top-k", "average", "sum", "softmax")
CASES = (
    "no valid answer",
    "database query",
    "average pooling",
    "convex combination",
    "convex cone",
    "linear combination",
)


def exact(query: str, keys: list[str]) -> Float[Tensor, " key"]:
    """1 for a key that equals the query, else 0."""
    return torch.tensor([float(key == query) for key in keys])


def edit_distance(first: str, second: str) -> int:
    """Levenshtein distance: letters to insert, remove or replace.

    Source: Levenshtein 1966; the table row by row (Wagner and Fischer 1974).
    """
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def edits(query: str, keys: list[str]) -> Float[Tensor, " key"]:
    """exp(−d) for the edit distance d: 1 for the same word, less for every letter that differs."""
    return torch.exp(-torch.tensor([float(edit_distance(query, key)) for key in keys]))


def meaning(model: Model, text: str) -> Float[Tensor, " dim"]:
    """One vector of length 1 for a text: the mean of a text encoder's hidden states."""
    states = trace(model, text).output.values[0].float().mean(0)
    return states / states.norm()


def embedded(query: Float[Tensor, " dim"], keys: Float[Tensor, "key dim"]) -> Float[Tensor, " key"]:
    """Dot products of vectors of length 1: cosines, from −1 to 1."""
    return keys @ query


def exponentials(
    similarities: Float[Tensor, " key"], temperature: float = 1.0
) -> tuple[Float[Tensor, " key"], float]:
    """exp(s / T − shift), the numerators of the softmax, and the shift.

    The shift is 0, or the largest s / T where the exponentials would be too large or small to read.
    """
    exps, shift = followed.exponentials(similarities / temperature)
    return exps, shift.item()


def normalised(
    similarities: Float[Tensor, " key"],
    how: str,
    *,
    temperature: float = 1.0,
) -> Float[Tensor, " key"]:
    """Weights from similarities.

    Args:
        similarities: of the query with every key.
        how: "none" leaves them unchanged; "one-hot" gives all weight to the best; "top-k" gives
            equal shares to the two best; "average" gives equal shares to all; "sum" divides by the
            sum; "softmax" divides exponentials by their sum.
        temperature: divides the similarities before the softmax.

    Returns:
        The weights. If all similarities are 0, "one-hot" and "top-k" give zeros: there is no best
        key. Ties go to the first key.

    Raises:
        ValueError: for "sum" where a similarity is negative or all are 0, and for another `how`.
    """
    count = len(similarities)
    if how == "none":
        return similarities
    if how == "average":
        return torch.full_like(similarities, 1 / count)
    if how == "softmax":
        return torch.softmax(similarities / temperature, -1)
    if how == "sum":
        return _shares(similarities)
    if how not in NORMALISATIONS:
        raise ValueError(f"how: expected one of {', '.join(NORMALISATIONS)}, received {how!r}")
    best = similarities.argsort(descending=True, stable=True)[: 1 if how == "one-hot" else 2]
    weights = torch.zeros_like(similarities)
    weights[best] = 0.0 if not bool(similarities.any()) else 1 / len(best)
    return weights


def _shares(similarities: Tensor) -> Tensor:
    least = float(similarities.min())
    if least < 0:
        raise ValueError(
            f"dividing by the sum expects similarities of 0 or more, received {least:.4f}: a"
            " negative one makes a negative weight, and the sum may even be 0. Softmax takes any"
            " number: exp makes it positive first"
        )
    total = similarities.sum()
    if total == 0:
        raise ValueError(
            "dividing by the sum expects a similarity above 0, received only zeros: 0/0 is no"
            " weight"
        )
    return similarities / total


def contributions(
    weights: Float[Tensor, " key"], values: Float[Tensor, "key dim"]
) -> Float[Tensor, "key dim"]:
    """Each value times its weight: the terms of `pooled`."""
    return weights[:, None] * values


def pooled(
    weights: Float[Tensor, " key"], values: Float[Tensor, "key dim"]
) -> Float[Tensor, " dim"]:
    """The weighted sum of the values."""
    return weights @ values


def shares(weights: Float[Tensor, " key"], values: list[str]) -> dict[str, float]:
    """The total weight of each distinct value, in order of appearance.

    Equal to `pooled` with a one-hot vector for each distinct value.
    """
    names = list(dict.fromkeys(values))
    one_hot = torch.tensor([[float(value == name) for name in names] for value in values])
    return dict(zip(names, pooled(weights, one_hot).tolist(), strict=True))


def case(weights: Float[Tensor, " key"]) -> str:
    """The most specific of `CASES` that applies to these weights."""
    total, count = float(weights.sum()), len(weights)
    tolerance = 1e-5  # of rounding, for each term of the sum
    ones = (weights - 1).abs() <= tolerance
    zeros = weights.abs() <= tolerance
    if bool(zeros.all()):
        return "no valid answer"
    if int(ones.sum()) == 1 and int(zeros.sum()) == count - 1:
        return "database query"
    if bool(((weights - 1 / count).abs() <= tolerance).all()):
        return "average pooling"
    if bool((weights < -tolerance).any()):
        return "linear combination"
    return "convex combination" if abs(total - 1) <= tolerance * count else "convex cone"
