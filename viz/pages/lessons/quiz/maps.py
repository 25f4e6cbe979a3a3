"""Questions about real attention maps, computed by trained networks that come with the app."""

import base64
import io
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

import streamlit as st
from PIL import Image

from models.catalogue import entry, folder
from models.request import Picture, TraceRequest
from viz.api import samples, tracing
from viz.pages import shared
from viz.pages.lessons.quiz import compute, tables
from viz.pages.lessons.quiz.question import Maker, Question, choices
from viz.pages.lessons.quiz.tables import number

if TYPE_CHECKING:
    from torch import Tensor

    from models.trace import Trace

REPEATED = ("magnet", "violet", "cobalt", "planet", "hybrid", "turnip", "walnut", "zodiac")
AGAIN = (2, 3, 4)  # letters of the word that come a second time
WIDE = 210  # pixels of an enlarged digit
DIGITS = {"a-three.png": "a three", "a-four.png": "a four", "an-eight.png": "an eight"}
CLEAR = 0.15  # by how much a quarter of the image leads
QUARTERS = ("upper left", "upper right", "lower left", "lower right")
FAINT = 0.05  # smaller weights are left out of a map
BLANK = "\u2007\u2008\u2007"  # as wide as a number


def _induction(dice: Random) -> Question:
    word, head, again = dice.choice(REPEATED), dice.randrange(2), dice.choice(AGAIN)
    labels, weights = _letters(word, again)
    rows = weights[1, head]
    last = len(labels) - 1
    best = int(rows[last].argmax())
    names = [f"“{label}” at position {at}" for at, label in enumerate(labels)]
    before = labels.index(labels[last])
    answer, slips, options = choices(
        dice,
        names[best],
        {
            names[before]: "That is where the same letter stood before: the map shows the weight in"
            " the column after it.",
            names[last - 1]: "That is the previous token, as a head of the first layer would do."
            " Look along the last row.",
            names[0]: "Many heads park their weight there, but not this one: look along the last"
            " row.",
        },
    )
    return Question(
        "An induction head",
        f"Which token does the last “{labels[last]}” attend to most? Rows are queries, columns are"
        " keys.",
        _repetition_map(word, head, again),
        answer,
        f"The last row has **{number(float(rows[last, best]), 2)}** there: the token that came"
        f" after the first “{labels[last]}”. It is what the network predicts next.",
        slips,
        options,
    )


def _previous(dice: Random) -> Question:
    word = dice.choice(REPEATED)
    _, weights = _letters(word, 3)
    shares = {
        f"layer {layer}, head {head}": float(weights[layer, head].diagonal(-1).mean())
        for layer in range(2)
        for head in range(2)
    }
    right = max(shares, key=lambda name: shares[name])
    answer, slips, options = choices(
        dice,
        right,
        {
            name: f"This one gives the previous token {number(share, 2)} on average: look for a"
            " line just below the diagonal."
            for name, share in shares.items()
            if name != right
        },
    )
    return Question(
        "Which head?",
        "Four heads of one network on the same text. Which of them attends to the previous token?",
        _four_maps(word),
        answer,
        f"It gives the previous token **{number(shares[right], 2)}** on average. Layer 1 needs that"
        " to find what came after an earlier letter.",
        slips,
        options,
    )


def _missing(dice: Random) -> Question:
    labels, weights = _letters(dice.choice(REPEATED), 3)
    at = dice.randint(3, len(labels) - 1)
    row = weights[0, 0, at, : at + 1].tolist()
    seen = sum(row[1:])
    return Question(
        "A weight that is missing",
        f"The weights of “{labels[at]}”, the token at position {at}, in layer 0, head 0 of the same"
        f" network. How much does it give to {labels[0]}? (Two decimals or per cent.)",
        tables.matrix(
            [row[1:]],
            title="The other weights of this row",
            cols=[f"{n} {label}" for n, label in enumerate(labels[1 : at + 1], 1)],
            weights=True,
        ),
        row[0],
        f"The weights of a row sum to 1, and the others sum to {number(seen)}:"
        f" **{number(row[0], 2)}**.",
        (
            (seen, "That is the sum of the weights that are shown: the row sums to 1."),
            (1 - max(row[1:]), "That leaves out the largest weight only: subtract all of them."),
            (seen / at, "That is the mean of the weights that are shown: the row sums to 1."),
        ),
    )


def last_row(word: str, head: int) -> tuple[str, float]:
    """The weights of a repeated word's last token, as HTML, and the largest of them.

    Args:
        word: one of `REPEATED`.
        head: of layer 1.
    """
    labels, weights = _letters(word, 3)
    row = weights[1, head, -1].tolist()
    picture = _map(
        [row], labels, f"Layer 1, head {head} of a network that continues repetitions", last=True
    )
    return picture, max(row)


def _digit(dice: Random) -> Question:
    name = dice.choice(tuple(DIGITS))
    (layer, head), quarters = dice.choice(_clear(name))
    shares = dict(zip(QUARTERS, quarters, strict=True))
    right = max(shares, key=lambda quarter: shares[quarter])
    answer, slips, options = choices(
        dice,
        right,
        {
            quarter: f"That quarter gets {number(share, 2)} in all."
            for quarter, share in shares.items()
            if quarter != right
        },
    )
    return Question(
        "The class token on a digit",
        f"A vision transformer reads {DIGITS[name]}. These are the weights of its [[class token]]"
        f" in layer {layer}, head {head}, a cell for each patch where it lies in the image. Which"
        " quarter of the image gets most of them?",
        tables.row(_enlarged(name), _patch_map(name, layer, head)),
        answer,
        f"The cells there sum to **{number(shares[right], 2)}**.",
        slips,
        options,
    )


@st.cache_resource(max_entries=len(REPEATED) * len(AGAIN), show_spinner=False)
def _letters(word: str, again: int) -> "tuple[tuple[str, ...], Tensor]":
    """Tokens of a word that begins again, and the weights "layer head query key" on it."""
    t = _traced("induction", f"{word} {word[:again]}")
    return tuple(t.labels), compute.stack([t.weights(layer).cpu() for layer in range(2)])


def _traced(model: str, given: str | Picture) -> "Trace":
    """The trace of a model of the catalogue."""
    source = tracing.of_catalogue(model, shared.device())
    return tracing.traced(TraceRequest(source, given), meanwhile=shared.waiting()).value


@st.cache_resource(max_entries=len(DIGITS), show_spinner=False)
def _class_weights(picture: str) -> "Tensor":
    """Weights "layer head row col" of the class token on a handwritten digit."""
    t = _traced("digits", Picture(samples.file(f"digits/{picture}")))
    weights = compute.stack([t.weights(site.layer).cpu() for site in t.sites])
    side = int((weights.shape[-1] - 1) ** 0.5)
    return compute.rearrange(
        weights[:, :, 0, 1:], "layer head (row col) -> layer head row col", row=side, col=side
    )


@st.cache_resource(max_entries=2 * len(REPEATED) * len(AGAIN), show_spinner=False)
def _repetition_map(word: str, head: int, again: int) -> str:
    labels, weights = _letters(word, again)
    title = f"Layer 1, head {head} of a network that continues repetitions"
    return _map(weights[1, head].tolist(), labels, title)


@st.cache_resource(max_entries=len(REPEATED), show_spinner=False)
def _four_maps(word: str) -> str:
    labels, weights = _letters(word, 3)
    return tables.row(
        *(
            _map(weights[layer, head].tolist(), labels, f"layer {layer}, head {head}", small=True)
            for layer in range(2)
            for head in range(2)
        )
    )


@st.cache_resource(max_entries=len(DIGITS), show_spinner=False)
def _enlarged(picture: str) -> str:
    """The digit that the network reads."""
    with Image.open(folder(entry("digits")) / picture) as opened:
        large = opened.convert("L").resize((WIDE, WIDE), Image.Resampling.NEAREST)
    file = io.BytesIO()
    large.save(file, "PNG", compress_level=1)
    data = base64.b64encode(file.getvalue()).decode()
    return (
        '<figure class="lesson-matrix"><figcaption>The image</figcaption><img alt="The image"'
        f' width="{WIDE}" height="{WIDE}" style="max-width: 100%; height: auto"'
        f' src="data:image/png;base64,{data}"></figure>'
    )


@st.cache_resource(max_entries=36, show_spinner=False)
def _patch_map(picture: str, layer: int, head: int) -> str:
    grid = _class_weights(picture)[layer, head].tolist()
    side = [str(n) for n in range(len(grid))]
    return tables.shares(
        _formatted(grid),
        grid,
        title="Weights of the class token",
        rows=side,
        cols=side,
        line=f"rows and columns of patches; weights under {FAINT} have no number",
    )


def _quarters(grid: "Tensor") -> list[float]:
    """The sums of upper left, upper right, lower left and lower right."""
    half = len(grid) // 2
    return [
        float(grid[rows, cols].sum())
        for rows in (slice(half), slice(half, None))
        for cols in (slice(half), slice(half, None))
    ]


@st.cache_resource(max_entries=len(DIGITS), show_spinner=False)
def _clear(picture: str) -> list[tuple[tuple[int, int], list[float]]]:
    """Layer and head of every map on which one quarter clearly leads, and the four sums."""
    weights = _class_weights(picture)
    clear_heads = []
    for layer, heads in enumerate(weights):
        for head, grid in enumerate(heads):
            sums = _quarters(grid)
            first, second, *_ = sorted(sums, reverse=True)
            if first - second > CLEAR:
                clear_heads.append(((layer, head), sums))
    return clear_heads


def _map(
    values: list[list[float]],
    labels: Sequence[str],
    title: str,
    *,
    small: bool = False,
    last: bool = False,
) -> str:
    """A map of weights; with `last` the row of the last token alone."""
    names = [f"{at} {label}" for at, label in enumerate(labels)]
    pairs = list(zip(labels, names, strict=True))
    return tables.shares(
        _formatted(values),
        values,
        title=title,
        rows=names[-1:] if last else names,
        cols=[(label if small else name) if len(label) == 1 else "0" for label, name in pairs],
        line=f"weights under {FAINT} have no number",
    )


def _formatted(values: list[list[float]]) -> list[list[str]]:
    return [[f"{value:.1f}" if value >= FAINT else BLANK for value in row] for row in values]


QUESTIONS: Sequence[Maker] = (_induction, _previous, _missing, _digit)
