"""Self-attention by hand: two words, nothing to learn, and every number in sight."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.lessons import frame, inputs, tables
from viz.pages.lessons.tables import number
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.lessons.followed import Followed

NAME = "by_hand"
STEPS = ("X", "X Xᵀ", "softmax", "· X")
WORDS = ("word 1", "word 2")
FEATURES = ("feature 1", "feature 2", "feature 3")
# torch.rand with seed 10, as a course has printed them to four decimals
X = (
    (0.4580846428871155, 0.4828565716743469, 0.3124983310699463),
    (0.6150216460227966, 0.21394729614257812, 0.4118261933326721),
)
FILM, VIEWER = ((0.9, 0.1, -0.4),), ((0.8, -0.2, 0.5),)
TASTES = ("romance", "action", "comedy")
PARAMS = (
    *inputs.params("x", X),
    frame.step(STEPS),
    frame.link.number("query", 1, 1, 2),
    frame.link.number("key", 2, 1, 2),
    *inputs.params("film", FILM),
    *inputs.params("viewer", VIEWER),
)
TEXT = (
    "For a network a word is a [[vector]]: a few numbers, its [[feature|features]]."
    " [[self-attention|Self-attention]] gives every word a new vector that also holds something of"
    " the words around it: a soft dictionary in which each word is query, key and value at once."
    " How much a word takes from another is decided by how alike they are, the [[dot product]] of"
    " their vectors. A [[softmax]] makes [[weights]] of these [[score|scores]], and the new vector"
    " is the weighted sum of all words. Here nothing is learned; the next lesson adds that.",
)
WHERE = (
    "Each row of the [[matrix]] X is a word. Xᵀ is X with rows and columns exchanged, so that X Xᵀ"
    " holds the dot product of every word with every word. Y holds the new vectors."
)
TAKEN = (
    "Scores are symmetric: word 1 is as like word 2 as word 2 is like word 1. Weights are not,"
    " because each row is divided by its own sum.",
    "Every row of weights sums to 1, so every result lies between the words.",
    "The dot product grows with the length of the vectors as well as with their likeness.",
)
FILM_TEXT = (
    "Why a dot product? Say what a film offers and what a viewer likes, feature by feature, as"
    " numbers from −1 to 1. Where both are large and of one sign, the product is large; where they"
    " disagree, it is negative. The sum says how well they match.",
)
TRIES = (
    frame.Try(
        "Two equal words.",
        "All scores are equal, so every weight is 0.5.",
        {"x21": X[0][0], "x22": X[0][1], "x23": X[0][2]},
    ),
    frame.Try(
        "Word 1 three times as long.",
        "Longer vectors have larger scores: word 1 gets more than 0.7 of the weight, even from"
        " word 2.",
        {"x11": 1.3743, "x12": 1.4486, "x13": 0.9375},
    ),
    frame.Try(
        "Words at right angles.",
        "Nothing in common: the score is 0, and yet the weight is not, since exp(0) = 1.",
        {"x11": 1.0, "x12": 0.0, "x13": 0.0, "x21": 0.0, "x22": 1.0, "x23": 0.0},
    ),
    frame.Try(
        "Only the scores.",
        "Stop before the softmax: the table is symmetric. Then go on with →.",
        {"step": 1},
    ),
)
FILM_TRIES = (
    frame.Try(
        "A viewer who hates romance.",
        "Every product is negative now, and so is the sum.",
        {"viewer11": -0.8, "viewer12": -0.2, "viewer13": 0.5},
    ),
    frame.Try(
        "A viewer after the film's heart.",
        "The same signs everywhere: the sum is as large as it can be for tastes up to 1.",
        {"viewer11": 1.0, "viewer12": 1.0, "viewer13": -1.0},
    ),
    frame.Try(
        "A viewer without tastes.",
        "All zeros match nothing, well or badly.",
        {"viewer11": 0.0, "viewer12": 0.0, "viewer13": 0.0},
    ),
)


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*TEXT)
    frame.formula(r"Y = \operatorname{softmax}(X X^\top)\, X")
    frame.text(WHERE)
    frame.heading("Two words, three numbers each: change any of them")
    x = inputs.grid(NAME, "x", WORDS, FEATURES)
    at = frame.stepper(NAME, STEPS)
    with st.container(horizontal=True, gap="medium"):
        words = {1: "word 1", 2: "word 2"}
        controls.choice(NAME, "query", "Follow", words, "Whose row is marked and written out below")
        controls.choice(NAME, "key", "looking at", words, "Which number of that row is worked out")
    from models import simple
    from models.attention import functional as attend
    from models.lessons import followed

    found = follow(x)
    _picture(x, found, at)
    frame.tries(NAME, *TRIES)
    frame.explore(
        "See self-attention on a whole sentence, in a trained model",
        model="minilm",
        input="The viewer liked the film because it was short",
    )
    frame.heading("A film and a viewer")
    frame.text(*FILM_TEXT)
    _film()
    frame.tries(NAME, *FILM_TRIES, part="film")
    frame.code(NAME, simple.unlearned, simple.one_head, followed.follow, attend.attend)
    frame.took(*TAKEN)


def follow(x: list[list[float]]) -> "Followed":
    """Every step of the attention of words to themselves."""
    import torch

    from models import simple
    from models.lessons import followed

    _, pattern = simple.unlearned(torch.tensor([x]))
    return followed.follow(pattern)


def _picture(x: list[list[float]], found: "Followed", at: int) -> None:
    query, key = (st.session_state[f"{NAME}_{n}"] - 1 for n in ("query", "key"))
    parts = [
        tables.matrix(
            x,
            title="Words X",
            rows=WORDS,
            cols=FEATURES,
            axes=("word", "feature"),
            mark=(query, None),
        ),
        tables.matrix(
            found.products.tolist(),
            title="[[score|Scores]] X Xᵀ",
            rows=WORDS,
            cols=WORDS,
            axes=("query", "key"),
            kind="signed",
            mark=(query, key),
        ),
        tables.matrix(
            found.weights.tolist(),
            title="[[Weights]]",
            rows=WORDS,
            cols=WORDS,
            axes=("query", "key"),
            kind="weights",
            mark=(query, key),
        ),
        tables.matrix(
            found.values.tolist(),
            title="Result Y",
            rows=WORDS,
            cols=FEATURES,
            axes=("word", "feature"),
            mark=(query, None),
        ),
    ]
    names = ("Words X", "Scores X Xᵀ", "Weights", "Result Y")
    shown = [part if n <= at else tables.pending(names[n]) for n, part in enumerate(parts)]
    frame.show(tables.row(*shown), tables.lines(*_written(x, found, query, key)[: at + 1]))


def _written(x: list[list[float]], found: "Followed", query: int, key: int) -> list[str]:
    """The marked numbers as sums of numbers that are on the screen."""
    import torch

    from models.lessons.followed import terms

    products, total = terms(torch.tensor(x[query]), torch.tensor(x[key]))
    exps, weights = found.exponentials[query], found.weights[query]
    shares = " + ".join(number(each) for each in exps.tolist())
    mixed = " + ".join(
        f"{number(w)}·({', '.join(map(number, row))})"
        for w, row in zip(weights.tolist(), x, strict=True)
    )
    return [
        f"**X** {WORDS[query]} = ({', '.join(map(number, x[query]))})",
        f"**X Xᵀ** {WORDS[query]} with {WORDS[key]}: {tables.dot(x[query], x[key])} ="
        f" {tables.total(products.tolist())} = **{number(total.item())}**",
        f"**softmax** {tables.exp(found.scores[query, key].item(), found.shifts[query].item())} ="
        f" {number(exps[key].item())}; divided by {shares} = {number(found.sums[query].item())}"
        f" gives **{number(weights[key].item())}**",
        f"**· X** {mixed} = **({', '.join(map(number, found.values[query].tolist()))})**",
    ]


def _film() -> None:
    import torch

    from models.lessons.followed import terms

    film = inputs.grid(NAME, "film", ("Film",), TASTES)
    viewer = inputs.grid(NAME, "viewer", ("Viewer",), TASTES)
    products, total = terms(torch.tensor(film[0]), torch.tensor(viewer[0]))
    frame.show(
        tables.matrix(
            [film[0], viewer[0], products.tolist()],
            title="Feature by feature",
            rows=("film", "viewer", "product"),
            cols=TASTES,
            axes=("row", "feature"),
            kind="signed",
            digits=2,
            note=f"Sum of the products: **{number(total.item())}**",
        )
    )
