"""Self-attention by hand: two words, no parameters, and every number visible."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.lessons import frame, inputs, tables
from viz.pages.lessons.by_hand import texts
from viz.pages.lessons.by_hand.story import STORY
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.lessons.followed import Followed

NAME = "by_hand"
STEPS = ("X", "X Xᵀ", "softmax", "· X")
WORDS = ("word 0", "word 1")
FEATURES = ("feature 0", "feature 1", "feature 2")
TASTES = ("romance", "action", "comedy")
PARAMS = (
    *inputs.params("x", texts.X),
    frame.step(STEPS),
    link.number("query", 0, 0, 1),
    link.number("key", 1, 0, 1),
    *inputs.params("film", texts.FILM),
    *inputs.params("viewer", texts.VIEWER),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        frame.explore(
            "See self-attention on a whole sentence, in a trained model",
            model="minilm",
            input="The viewer liked the film because it was short",
        )
        from models import simple
        from models.attention import functional as attend
        from models.lessons import followed

        frame.code(NAME, simple.unlearned, simple.one_head, followed.follow, attend.attend)
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.heading("A film and a viewer")
    frame.text(*texts.FILM_TEXT)
    _film()
    frame.tries(NAME, PARAMS, *texts.FILM_TRIES, part="film")
    frame.heading("Every word looks at every word")
    frame.text(*texts.TEXT)
    frame.formula(r"Y = \operatorname{softmax}(X X^\top)\, X")
    frame.text(texts.WHERE)
    frame.heading("Two words, three numbers each: change any of them")
    x = inputs.grid(NAME, "x", WORDS, FEATURES)
    at = frame.stepper(NAME, STEPS)
    with st.container(horizontal=True, gap="medium"):
        words = dict(enumerate(WORDS))
        controls.choice(
            NAME, "query", "Follow", words, "The word whose row is marked and written out below"
        )
        controls.choice(
            NAME, "key", "looking at", words, "The number of that row that is written out"
        )
    found = follow(x)
    _picture(x, found, at)
    frame.tries(NAME, PARAMS, *texts.TRIES)


def follow(x: list[list[float]]) -> "Followed":
    """Every step of self-attention over the words."""
    import torch

    from models import simple
    from models.lessons import followed

    _, pattern = simple.unlearned(torch.tensor([x]))
    return followed.follow(pattern)


def _picture(x: list[list[float]], found: "Followed", at: int) -> None:
    query, key = (session.get(NAME, name) for name in ("query", "key"))
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
    frame.show(tables.row(*shown), tables.lines(*_sums(x, found, query, key)[: at + 1]))


def _sums(x: list[list[float]], found: "Followed", query: int, key: int) -> list[str]:
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
