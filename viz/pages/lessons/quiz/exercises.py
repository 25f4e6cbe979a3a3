"""Questions about what the code of three notebooks rests on; the code itself is written there."""

from collections.abc import Sequence
from random import Random

from viz.pages.lessons.quiz import compute, tables
from viz.pages.lessons.quiz.question import Maker, Question, choices
from viz.pages.lessons.quiz.tables import number


def _heads(dice: Random) -> Question:
    heads, width, each = dice.choice((2, 3, 4)), dice.choice((5, 7)), dice.choice((2, 3))
    n, dim = each * heads, heads * width
    answer, slips, options = choices(
        dice,
        f"q.reshape({n}, {heads}, {width}).transpose(0, 1)",
        {
            f"q.reshape({heads}, {n}, {width})": "The right shape with the wrong numbers: a reshape"
            f" goes on row by row, so head 0 gets all features of the first {each} tokens.",
            f"q.reshape({n}, {width}, {heads}).permute(2, 0, 1)": "The right shape, but head 0"
            f" gets one feature in {heads}, not the first {width}: its features lie side by side.",
            f"q.transpose(0, 1).reshape({heads}, {width}, {n})": "The right numbers, but each"
            " head's matrix lies on its side: features × tokens.",
        },
    )
    return Question(
        "Cut into heads",
        f"The queries q are a tensor of {n} × {dim}. Which line gives every head its {n} × {width}:"
        f" head 0 the first {width} features of each token, head 1 the next?",
        tables.facts(("Tokens", str(n)), ("Width", str(dim)), ("Heads", str(heads))),
        answer,
        f"First each row is cut into {heads} pieces, then the axes of tokens and heads change"
        " places. Notebook 03 asks for the whole layer.",
        slips,
        options,
    )


def _beyond(dice: Random) -> Question:
    n, dim = dice.choice((64, 128, 512)), dice.choice((32, 64))
    answer, slips, options = choices(
        dice,
        "The learned table has no row for it; the formula gives one that training never used.",
        {
            "Both have a row for it, and both were trained on it.": f"Training saw positions 0 to"
            f" {n - 1} alone.",
            "Neither has a row for it.": "Sine and cosine can be computed for any position.",
            "The learned table repeats its last row; the formula begins again.": "Nothing repeats a"
            " row, and the slow waves of the formula take far more positions for one turn.",
        },
    )
    return Question(
        "Learned or computed positions",
        "Two networks have trained on texts of this length: one with a learned table of positions,"
        " one with sines and cosines. What does each have for the next token of a longer text?",
        tables.facts(("Positions", f"0 to {n - 1}"), ("Width", str(dim))),
        answer,
        f"A learned table is {n} × {dim} = {n * dim:,} parameters and ends there; the formula has"
        " none and no end, but whether the network can use a new row is another question."
        " Notebook 04 asks for the formula.",
        slips,
        options,
    )


def _axis(dice: Random) -> Question:
    x = [[float(dice.randint(-4, 9)) for _ in range(3)] for _ in range(2)]
    mean = compute.tensor(x[0]).mean().item()
    column = compute.tensor([row[0] for row in x]).mean().item()
    return Question(
        "Which mean?",
        "Two tokens go through [[layer normalisation]]. Which mean is subtracted from feature 0 of"
        " token 0? (Two decimals.)",
        tables.matrix(
            x,
            title="Two tokens",
            rows=("token 0", "token 1"),
            cols=[f"feature {at}" for at in range(3)],
            digits=0,
        ),
        mean,
        f"({' + '.join(number(each, 0) for each in x[0])}) / 3 = **{number(mean, 2)}**: each token"
        " by itself, so neither other tokens nor the batch matter. Notebook 05 asks for all of it.",
        (
            (column, "That is the mean of feature 0 over the tokens: batch normalisation."),
            (compute.tensor(x).mean().item(), "That is the mean of both tokens: each has its own."),
            (compute.tensor(x[1]).mean().item(), "That is the mean of token 1."),
        ),
    )


QUESTIONS: Sequence[Maker] = (_heads, _beyond, _axis)
