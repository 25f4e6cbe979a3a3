"""The questions of the quiz: seeded random numbers, answers computed by models/.

Each is a function from a source of random numbers to a `Question`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from viz.pages.lessons import tables
from viz.pages.lessons.tables import number

ROUNDING = 0.006  # of an answer with two decimals


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        title: topic.
        ask: the question, in `markup`.
        picture: the given numbers, as HTML.
        answer: the right number.
        why: explanation, shown after a right answer or on request.
        slips: results of common mistakes, each with a hint.
        options: for multiple choice: the options; the answer is the index of the right one.
    """

    title: str
    ask: str
    picture: str
    answer: float
    why: str
    slips: tuple[tuple[float, str], ...] = ()
    options: tuple[str, ...] = ()


def near(typed: float, right: float) -> bool:
    """Whether a typed number is right, to two decimals or one per cent."""
    return abs(typed - right) <= max(ROUNDING, 0.01 * abs(right) if abs(right) < 100 else 0.5)


def _keys(count: int) -> list[str]:
    """Names for `count` keys."""
    return [f"key {place}" for place in range(1, count + 1)]


def _whole(dice: Random, count: int, low: int, high: int) -> list[float]:
    """Random integers from low to high."""
    return [float(dice.randint(low, high)) for _ in range(count)]


def questions(seed: int) -> tuple[Question, ...]:
    """All questions with the numbers of a seed."""
    return tuple(make(Random(f"{seed} {make.__name__}")) for make in QUESTIONS)


def _score(dice: Random) -> Question:
    import torch

    from models.attention import Dot

    q, k = _whole(dice, 4, -3, 4), _whole(dice, 4, -3, 4)
    vectors = (torch.tensor([[[each]]], dtype=torch.float32) for each in (q, k))
    one, other = vectors
    plain = Dot(scale=1.0).scores(one, other, [0]).item()
    score = Dot().scores(one, other, [0]).item()
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
    import torch

    from models.lessons.scaling import softened

    scores = _whole(dice, 3, 1, 4)
    weights = softened(torch.tensor(scores)).tolist()
    exps = torch.tensor(scores).exp().tolist()
    return Question(
        "A weight",
        "What [[weights|weight]] does the second key get? (Two decimals.)",
        tables.matrix([scores], title="Scores of one query", cols=_keys(3), digits=0),
        weights[1],
        f"exp gives {', '.join(number(e, 2) for e in exps)}, together {number(sum(exps), 2)}; the"
        f" second over the sum is **{number(weights[1], 2)}**.",
        (
            (scores[1] / sum(scores), "That divides the scores by their sum: exp comes first."),
            (exps[1], "That is exp of the score: divide it by the sum of all three."),
        ),
    )


def _mixture(dice: Random) -> Question:
    import torch

    from models.lessons.dictionary import pooled

    share = dice.choice((0.1, 0.2, 0.3, 0.7, 0.8, 0.9))
    weights, values = [share, 1 - share], _whole(dice, 2, 2, 40)
    out = pooled(torch.tensor(weights), torch.tensor(values)[:, None]).item()
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
        ((sum(values) / 2, "That is the plain mean: each value counts by its weight."),),
    )


def _case(dice: Random) -> Question:
    import torch

    from models.lessons.dictionary import CASES, case

    weights = dice.choice(
        ([0.0, 1.0, 0.0], [0.2, 0.5, 0.3], [0.9, 0.4, 0.2], [0.0] * 3, [0.7, -0.2, 0.5])
    )
    right = case(torch.tensor(weights))
    return Question(
        "Which case?",
        "These are the weights of one query in a soft dictionary. Which case is it?",
        tables.matrix([weights], title="Weights", cols=_keys(3), digits=1),
        float(CASES.index(right)),
        f"They sum to {number(sum(weights), 1)}, the least is {number(min(weights), 1)}:"
        f" **{right}**.",
        options=CASES,
    )


def _causal(dice: Random) -> Question:
    import torch

    from models.attention.mask import Mask

    n = dice.randint(4, 9)
    visible = Mask(causal=True).visible(torch.arange(n), n, [0])
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
    import torch

    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig

    heads, width, n = dice.choice((2, 3, 4)), dice.choice((5, 6, 8)), dice.choice((7, 9, 11))
    dim = heads * width
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=dim, heads=heads)).eval()
    with torch.no_grad():
        _, pattern = layer(torch.zeros(1, n, dim))
    right = " × ".join(map(str, pattern.weights(item=0).shape))
    options = [f"{heads} × {n} × {n}", f"{n} × {dim}", f"{heads} × {n} × {width}", f"{n} × {n}"]
    dice.shuffle(options)
    return Question(
        "A shape",
        "Which [[shape]] do all attention weights of this layer have?",
        tables.facts(("Tokens", str(n)), ("Width", str(dim)), ("Heads", str(heads))),
        float(options.index(right)),
        f"Every head has a weight for each query and each key: **{right}**.",
        options=tuple(options),
    )


def _parameters(dice: Random) -> Question:
    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig

    heads = dice.choice((2, 4, 5))
    dim = heads * dice.choice((4, 6, 10))
    config = MultiHeadAttentionConfig(dim=dim, heads=heads, qkv_bias=False, out_bias=False)
    count = sum(weights.numel() for weights in MultiHeadAttention(config).parameters())
    return Question(
        "Parameters",
        "How many [[parameters]] has a layer of [[multi-head attention]] without biases?",
        tables.facts(("Width", str(dim)), ("Heads", str(heads))),
        float(count),
        f"Four matrices of {dim} × {dim}, for queries, keys, values and the output: **{count:,}**."
        " The number of heads does not matter: they share the width.",
        (
            (3 * dim * dim, "The output projection is missing."),
            (4 * dim * dim * heads, "The heads share the matrices: each has a slice of them."),
        ),
    )


def _norm(dice: Random) -> Question:
    import torch

    from models.blocks import standardised

    vector = _whole(dice, 4, -4, 9)
    while len(set(vector)) < 3:
        vector = _whole(dice, 4, -4, 9)
    x = torch.tensor(vector)
    out = standardised(x).tolist()
    mean, deviation = x.mean().item(), x.std(correction=0).item()
    return Question(
        "A norm",
        "What does [[layer normalisation]] make of the first number? (γ = 1, β = 0; two decimals.)",
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
    from models.positional import sinusoidal

    at = dice.randint(1, 6)
    row = sinusoidal(at + 1, 8)[at].tolist()
    return Question(
        "A position",
        "What is the first number (dimension 0) of this [[positional encoding]]? (Radians.)",
        tables.facts(("Position, counted from 0", str(at)), ("Width", "8")),
        row[0],
        f"Dimension 0 is sin(p / 10000^{{0}}) = sin({at}) = **{number(row[0], 2)}**.",
        ((row[1], "That is dimension 1, the cosine: dimension 0 is a sine."),),
    )


def _patches(dice: Random) -> Question:
    import torch

    from models.patches import cut

    patch = dice.choice((4, 7, 8, 14, 16))
    side = patch * dice.choice((4, 6, 7, 14))
    count = cut(torch.zeros(1, 1, side, side), patch).shape[1]
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


Maker = Callable[[Random], Question]
QUESTIONS: Sequence[Maker] = (
    *(_score, _weight, _mixture, _case, _causal),
    *(_shape, _parameters, _norm, _position, _patches),
)
