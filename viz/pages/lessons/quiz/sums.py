"""Sums: seeded random numbers, answers computed by models/."""

from collections.abc import Sequence
from math import radians, sin
from random import Random

import streamlit as st

from viz.pages.lessons.quiz import compute, tables
from viz.pages.lessons.quiz.question import Maker, Question, choices
from viz.pages.lessons.quiz.tables import number


def _keys(count: int) -> list[str]:
    """Names for `count` keys."""
    return [f"key {place}" for place in range(count)]


def _whole(dice: Random, count: int, low: int, high: int) -> list[float]:
    """Random integers from low to high."""
    return [float(dice.randint(low, high)) for _ in range(count)]


def _score(dice: Random) -> Question:
    q, k = _whole(dice, 4, -3, 4), _whole(dice, 4, -3, 4)
    vectors = (compute.tensor([[[each]]], dtype=compute.float32) for each in (q, k))
    one, other = vectors
    plain = compute.Dot(scale=1.0).scores(one, other, [0]).item()
    score = compute.Dot().scores(one, other, [0]).item()
    return Question(
        "A score",
        "What is the [[scaled dot product]] of this query and this key?",
        tables.matrix([q, k], title="Query and key", rows=("q", "k"), digits=0),
        score,
        f"q·k = {tables.dot(q, k, 0)} = {number(plain, 0)}; divided by √4 = 2:"
        f" **{number(score, 2)}**.",
        (
            (plain, "That is q·k: it still has to be divided by √d, and d is 4."),
            (plain / 4, "That is q·k divided by d: divide by √d = 2."),
        ),
    )


def _weight(dice: Random) -> Question:
    scores = _whole(dice, 3, 1, 4)
    weights = compute.softened(compute.tensor(scores)).tolist()
    exps = compute.tensor(scores).exp().tolist()
    return Question(
        "A weight",
        "What [[weights|weight]] does key 1 get? (Two decimals.)",
        tables.matrix([scores], title="Scores of one query", cols=_keys(3), digits=0),
        weights[1],
        f"exp gives {', '.join(number(e, 2) for e in exps)}, together {number(sum(exps), 2)}; that"
        f" of key 1 over the sum is **{number(weights[1], 2)}**.",
        (
            (scores[1] / sum(scores), "That divides the scores by their sum: exp comes first."),
            (exps[1], "That is exp of the score: divide it by the sum of all three."),
            (weights[0], "That is the weight of key 0."),
            (weights[2], "That is the weight of key 2."),
        ),
    )


def _mixture(dice: Random) -> Question:
    share = dice.choice((0.1, 0.2, 0.3, 0.7, 0.8, 0.9))
    weights, values = [share, 1 - share], _whole(dice, 2, 2, 40)
    out = (compute.tensor(weights) @ compute.tensor(values)).item()
    return Question(
        "A mixture",
        "What value does attention return?",
        tables.matrix(
            [weights, values],
            title="Weights and values",
            rows=("weight", "value"),
            cols=_keys(2),
            digits=1,
        ),
        out,
        f"{number(share, 1)}·{number(values[0], 0)} + {number(1 - share, 1)}·{number(values[1], 0)}"
        f" = **{number(out, 2)}**: between the two values, nearer to that with more weight.",
        (
            (sum(values) / 2, "That is the plain mean: each value counts by its weight."),
            (
                weights[1] * values[0] + weights[0] * values[1],
                "The weights are exchanged: each belongs to the value below it.",
            ),
            (sum(values), "That is the sum of the values: multiply each by its weight first."),
        ),
    )


def _case(dice: Random) -> Question:
    weights = dice.choice(
        (
            [0.0, 1.0, 0.0, 0.0],
            [0.25, 0.25, 0.25, 0.25],
            [0.2, 0.45, 0.3, 0.05],
            [0.9, 0.4, 0.2, 0.1],
            [0.0] * 4,
            [0.7, -0.2, 0.4, 0.1],
        )
    )
    right = compute.case(compute.tensor(weights))
    answer, slips, options = choices(
        dice, right, {name: _not(name, weights) for name in compute.CASES if name != right}
    )
    return Question(
        "Which case?",
        "These are the weights of one query in a soft dictionary. Which is the narrowest case that"
        " they fall under?",
        tables.matrix([weights], title="Weights", cols=_keys(4), digits=2),
        answer,
        f"They sum to {number(sum(weights), 2)}, the smallest is {number(min(weights), 2)}:"
        f" **{right}**.",
        slips,
        options,
    )


def _not(case: str, weights: list[float]) -> str:
    """Why these weights are not that case, or why a narrower one fits better."""
    total, least = sum(weights), min(weights)
    narrower = "True of these weights, but a narrower case fits as well."
    sums = f"They sum to {number(total, 2)}, and"
    if case == "no valid answer":
        return "There is an answer: not every weight is 0."
    if case == "database query":
        return "A database query has one weight of 1, and all others are 0."
    if case == "average pooling":
        equal = "Equal, but 0: there is nothing to average."
        return "These weights are not equal." if any(weights) else equal
    if case == "convex combination":
        if least < 0:
            return "The weights of a convex combination are never negative."
        return narrower if abs(total - 1) < 1e-9 else f"{sums} a convex combination needs 1."
    if case == "convex cone":
        return "No weight may be negative in a convex cone." if least < 0 else narrower
    return narrower


def _causal(dice: Random) -> Question:
    n = dice.randint(4, 9)
    visible = compute.Mask(causal=True).visible(compute.arange(n), n, [0])
    count = n * n if visible is None else int(visible.sum())
    return Question(
        "A causal mask",
        "How many of the weights of one head may be above 0 under a [[causal mask]]?",
        tables.facts(("Tokens", str(n)), ("Weights", f"{n} × {n}")),
        float(count),
        f"The first token sees 1, the second 2, …, the last {n}: n (n + 1) / 2 = **{count}**.",
        (
            (n * n, "Those are all weights: a token does not see what comes after it."),
            (n * (n - 1) / 2, "Every token also sees itself."),
        ),
    )


def _shape(dice: Random) -> Question:
    heads, width, n = dice.choice((2, 3, 4)), dice.choice((5, 6, 8)), dice.choice((7, 9, 11))
    dim = heads * width
    right = _shape_of_weights(heads, dim, n)
    answer, slips, options = choices(
        dice,
        right,
        {
            f"{n} × {dim}": "That is the shape of the input and of the output: a vector per token.",
            f"{heads} × {n} × {width}": "That is the shape of all queries, or keys, or values.",
            f"{n} × {n}": "That is the shape of one head's weights.",
        },
    )
    return Question(
        "A shape",
        "Which [[shape]] do all attention weights of this layer have?",
        tables.facts(("Tokens", str(n)), ("Width", str(dim)), ("Heads", str(heads))),
        answer,
        f"Every head has a weight for each query and each key: **{right}**.",
        slips,
        options,
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _shape_of_weights(heads: int, dim: int, tokens: int) -> str:
    layer = compute.MultiHeadAttention(
        compute.MultiHeadAttentionConfig(dim=dim, heads=heads)
    ).eval()
    with compute.no_grad():
        _, pattern = layer(compute.zeros(1, tokens, dim))
    return " × ".join(map(str, pattern.weights(item=0).shape))


def _parameters(dice: Random) -> Question:
    heads = dice.choice((2, 4, 5))
    dim = heads * dice.choice((4, 6, 10))
    count = _counted(heads, dim)
    return Question(
        "Parameters",
        "How many [[parameters]] has a layer of [[multi-head attention]] without biases?",
        tables.facts(("Width", str(dim)), ("Heads", str(heads))),
        float(count),
        f"Four matrices of {dim} × {dim}, for queries, keys, values and the output: **{count:,}**."
        " The number of heads does not matter: they share the width.",
        (
            (3 * dim * dim, "The output projection is missing."),
            (dim * dim, "That is one matrix: there are four."),
            (4 * dim * dim * heads, "The heads share the matrices: each has a slice of them."),
        ),
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _counted(heads: int, dim: int) -> int:
    config = compute.MultiHeadAttentionConfig(dim=dim, heads=heads, qkv_bias=False, out_bias=False)
    return sum(weights.numel() for weights in compute.MultiHeadAttention(config).parameters())


def _norm(dice: Random) -> Question:
    vector = _whole(dice, 4, -4, 9)
    while len(set(vector)) < 3:
        vector = _whole(dice, 4, -4, 9)
    x = compute.tensor(vector)
    out = compute.standardised(x).tolist()
    mean, deviation = x.mean().item(), x.std(correction=0).item()
    return Question(
        "A norm",
        "What is feature 0 after [[layer normalisation]]? (γ = 1, β = 0; two decimals.)",
        tables.matrix([vector], title="One token", digits=0),
        out[0],
        f"Mean {number(mean, 2)}, deviation {number(deviation, 2)}: ({number(vector[0], 0)} −"
        f" {number(mean, 2)}) / {number(deviation, 2)} = **{number(out[0], 2)}**.",
        (
            (vector[0] - mean, "That is only centred: divide by the deviation."),
            ((vector[0] - mean) / x.std().item(), "The variance is divided by 4 here, not by 3."),
            ((vector[0] - mean) / deviation**2, "That is divided by the variance: take its root."),
        ),
    )


def _position(dice: Random) -> Question:
    at = dice.randint(1, 6)
    row = compute.sinusoidal(at + 1, 8)[at].tolist()
    return Question(
        "A position",
        "What is feature 0 of this [[positional encoding]]? (Radians.)",
        tables.facts(("Position, counted from 0", str(at)), ("Width", "8")),
        row[0],
        f"Feature 0 is sin(p / 10000^{{0}}) = sin({at}) = **{number(row[0], 2)}**.",
        (
            (row[1], "That is feature 1, the cosine: feature 0 is a sine."),
            (sin(radians(at)), "That is the sine of degrees: set the calculator to radians."),
            (row[2], "That is feature 2, a slower wave."),
        ),
    )


def _patches(dice: Random) -> Question:
    patch = dice.choice((4, 7, 8, 14, 16))
    side = patch * dice.choice((4, 6, 7, 14))
    count = compute.cut(compute.zeros(1, 1, side, side), patch).shape[1]
    return Question(
        "Patches",
        "How many [[token|tokens]] does a vision transformer with a [[class token]] see?",
        tables.facts(("Image", f"{side} × {side} pixels"), ("Patch", f"{patch} × {patch}")),
        float(count + 1),
        f"({side} / {patch})² = {count} patches, and the class token: **{count + 1}**.",
        (
            (count, "Those are the patches: the class token comes on top."),
            (side * side, "Those are the pixels: a patch is one token."),
            (side // patch, "That is one row of patches."),
        ),
    )


QUESTIONS: Sequence[Maker] = (
    *(_score, _weight, _mixture, _case, _causal),
    *(_shape, _parameters, _norm, _position, _patches),
)
