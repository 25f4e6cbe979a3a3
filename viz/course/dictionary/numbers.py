"""A soft dictionary of four people's heights, asked for a name.

answer = Σᵢ α(q, kᵢ) vᵢ          (attention pooling: Nadaraya 1964, Watson 1964)

α is a similarity, normalised or not; the weights alone determine which of the classical cases
applies (`case`).
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor

from viz.course import real
from viz.course.boards import Board, board, panel, table
from viz.course.numbers import exponentials

KEYS = ["Ann", "Mike", "Michelle", "Andrew"]
VALUES = [167.0, 186.0, 170.0, 176.0]  # cm
CASES = (
    "no valid answer",
    "database query",
    "average pooling",
    "convex combination",
    "convex cone",
    "linear combination",
)


def numbers(query: str, temperature: float) -> dict[str, Any]:
    """Every number from the comparison with the keys to the answer."""
    values = torch.tensor(VALUES)
    similarities = edits(query, KEYS)
    weights = normalised(similarities, "softmax", temperature)
    return {
        "keys": KEYS,
        "values": VALUES,
        "distances": [edit_distance(query, key) for key in KEYS],
        "similarities": similarities,
        "total": exponentials(similarities / temperature)[0].sum(),
        "weights": weights,
        "contributions": weights * values,
        "answer": weights @ values,
        "mean": values.mean(),
        "best": KEYS[int(weights.argmax())],
        "largest": weights.max(),
    }


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


def edits(query: str, keys: list[str]) -> Tensor:
    """exp(−d) for the edit distance d: 1 for the same word, less for every letter that differs."""
    return torch.exp(-torch.tensor([float(edit_distance(query, key)) for key in keys]))


def normalised(similarities: Tensor, how: str, temperature: float = 1.0) -> Tensor:
    """Weights from similarities that are not negative.

    Args:
        similarities: of the query with every key.
        how: "none" leaves them unchanged; "one-hot" gives all weight to the best, the first of
            equals; "top-k" gives equal shares to the two best; "average" gives equal shares to
            all; "sum" divides by the sum; "softmax" divides exponentials by their sum.
        temperature: divides the similarities before the softmax.
    """
    if how == "none":
        return similarities
    if how == "average":
        return torch.full_like(similarities, 1 / len(similarities))
    if how == "sum":
        return similarities / similarities.sum()
    if how == "softmax":
        return torch.softmax(similarities / temperature, -1)
    count = {"one-hot": 1, "top-k": 2}[how]
    best = similarities.argsort(descending=True, stable=True)[:count]
    return torch.zeros_like(similarities).index_fill(0, best, 1 / count)


def case(weights: Tensor) -> str:
    """The most specific of `CASES` that applies to these weights."""
    count, tolerance = len(weights), 1e-5  # of rounding, for each term of the sum

    def are(value: float) -> Tensor:
        return (weights - value).abs() <= tolerance

    if are(0).all():
        return "no valid answer"
    if are(1).sum() == 1 and are(0).sum() == count - 1:
        return "database query"
    if are(1 / count).all():
        return "average pooling"
    if (weights < -tolerance).any():
        return "linear combination"
    sums_to_1 = (weights.sum() - 1).abs() <= tolerance * count
    return "convex combination" if sums_to_1 else "convex cone"


GIVEN = (0.98, 0.05, 0.05, 0.1)  # similarities of “Anna” with the keys, as typed by hand
WAYS = {
    "none": "as they are",
    "sum": "sum to 1",
    "softmax": "softmax, T = 1",
    "top-k": "the 2 best",
    "one-hot": "the best",
    "average": "all alike",
}


def ways() -> Board:
    """The answer to “Anna” where given similarities are normalised in every way."""
    rows = {}
    for how, name in WAYS.items():
        weights = normalised(torch.tensor(GIVEN), how)
        columns = [f"{each:.3f}" for each in (*weights.tolist(), weights.sum().item())]
        answer = weights @ torch.tensor(VALUES)
        rows[name] = [*columns, f"{answer:.2f}", case(weights)]
    cols = [*KEYS, "sum", "answer", "case"]
    return board([table("Weights for “Anna”, in six ways", rows, cols)])


FRUIT = {
    "apple": "green",
    "banana": "yellow",
    "orange": "orange",
    "pickles": "green",
    "pineapple": "brown",
    "raspberry": "crimson",
}
PI = (0.05, 0.075, 0.075, 0.3, 0.4, 0.1)  # similarities of “pi” with the fruit
SHARP = 0.1  # temperature of the query by meaning


@cache
def words() -> Board:
    """Weights of words: given ones, of the same word, by meaning, and by letters."""
    keys, rest = [*FRUIT], [key for key in FRUIT if key != "pickles"]
    vectors = torch.stack([*map(meaning, keys)])
    letters = edits("pickles", rest)
    alike = vectors[[keys.index(key) for key in rest]] @ meaning("pickles")
    spelled, meant = (rest[int(each.argmax())] for each in (letters, alike))
    citrus = normalised(vectors @ meaning("citrus"), "softmax", SHARP)
    rows = {}
    shares = dict.fromkeys(FRUIT.values(), 0.0)
    for key, weight, share in zip(keys, PI, citrus.tolist(), strict=True):
        best = [None if key == "pickles" else float(key == each) for each in (meant, spelled)]
        rows[f"{key}: {FRUIT[key]}"] = [weight, float(key == "pickles"), *best, share]
        shares[FRUIT[key]] += weight
    cols = ["pi", "pickles", "by meaning", "by letters", "citrus"]
    return board(
        [table("Weights of the keys", rows, cols, kind="weights", digits=3)],
        [panel("What each colour gets for “pi”", [[*shares.values()]], cols=[*shares], digits=3)],
        winner=max(shares, key=shares.__getitem__),
        meaning=meant,
        letters=spelled,
        apart=edit_distance("pickles", spelled),
        citrus=citrus.max(),
    )


def meaning(text: str) -> Tensor:
    """One vector of length 1 for a text: the mean of MiniLM's hidden states."""
    states = real.traced("minilm", text).output.values[0].float().mean(0)
    return states / states.norm()


BOARDS = {"ways": ways, "words": words}
