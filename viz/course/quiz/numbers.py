"""What the questions of `questions.md` compute with, beside the numbers that they draw.

A function of a whole question returns the values that its texts compute with; `given`, panels
beside each other; and `right` and `wrong`, the values of the options of one text.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
import torch
from einops import rearrange, reduce
from PIL import Image
from torch import Tensor

from models.catalogue import entry, folder
from models.positional import sinusoidal
from viz.course import real
from viz.course.boards import Panel, panel
from viz.course.dictionary.numbers import CASES
from viz.course.dictionary.numbers import case as case_of
from viz.course.numbers import softened
from viz.course.position.numbers import permuted
from viz.course.prose import number

Values = dict[str, Any]


def facts(**named: object) -> list[Panel]:
    """What is given, by name; spaces are written as underscores."""
    cols = [name.replace("_", " ") for name in named]
    return [panel("Given", [[*map(str, named.values())]], cols=cols)]


def keys(count: int) -> list[str]:
    """Names of keys."""
    return [f"key {place}" for place in range(count)]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """The dot product."""
    return (torch.tensor(a) @ torch.tensor(b)).item()


def product(a: list[float], b: list[float]) -> str:
    """A dot product of whole numbers written out as a sum of products."""

    def bracketed(term: str) -> str:
        return f"({term})" if term.startswith("−") else term

    pairs = zip(a, b, strict=True)
    terms = (f"{number(x, '.0f')}·{bracketed(number(y, '.0f'))}" for x, y in pairs)
    return " + ".join(map(bracketed, terms))


def softmax(scores: Sequence[float]) -> list[float]:
    """Weights of scores."""
    return softened(torch.tensor(scores)).tolist()


def waves(position: int) -> list[float]:
    """The sinusoidal positional encoding of width 8."""
    return sinusoidal(position + 1, 8)[position].tolist()


def moved(words: Sequence[str]) -> float:
    """By how much a word's vector differs between both orders, without positions."""
    before, after = permuted(words, [2, 1, 0], positions=False)
    return float((before - after).norm(dim=-1).max())


WEIGHTS = (  # of all cases
    [0.0, 1.0, 0.0, 0.0],
    [0.25, 0.25, 0.25, 0.25],
    [0.2, 0.45, 0.3, 0.05],
    [0.9, 0.4, 0.2, 0.1],
    [0.0] * 4,
    [0.7, -0.2, 0.4, 0.1],
)


def case(weights: list[float]) -> Values:
    """Which case of a soft dictionary weights fall under."""
    right, total, least = case_of(torch.tensor(weights)), sum(weights), min(weights)
    narrower = "True of these weights, but a narrower case fits as well."
    hints = {
        "no valid answer": "There is an answer: not every weight is 0.",
        "database query": "A database query has one weight of 1, and all others are 0.",
        "average pooling": "These weights are not equal."
        if any(weights)
        else "Equal, but 0: there is nothing to average.",
        "convex combination": "The weights of a convex combination are never negative."
        if least < 0
        else narrower
        if abs(total - 1) < 1e-9
        else f"They sum to {number(total, '.2f')}, and a convex combination needs 1.",
        "convex cone": "No weight may be negative in a convex cone." if least < 0 else narrower,
        "linear combination": narrower,
    }
    return {
        "given": [panel("Weights", [weights], cols=keys(4))],
        "right": right,
        "wrong": [{"name": name, "hint": hints[name]} for name in CASES if name != right],
        "total": total,
        "least": least,
    }


# ---- maps of trained networks

REPEATED = ("magnet", "violet", "cobalt", "planet", "hybrid", "turnip", "walnut", "zodiac")
TITLE = "Layer 1, head {} of a network that continues repetitions"
DIGITS = {"a-three.png": "a three", "a-four.png": "a four", "an-eight.png": "an eight"}
CLEAR = 0.15  # by how much a quarter of the image leads
QUARTERS = ("upper left", "upper right", "lower left", "lower right")


@lru_cache(maxsize=len(REPEATED) * 3)
def _letters(word: str, again: int) -> tuple[tuple[str, ...], Tensor]:
    """Tokens of a word that begins again, and the weights "layer head query key" on it."""
    trace = real.traced("induction", f"{word} {word[:again]}")
    return tuple(trace.labels), torch.stack([trace.weights(layer) for layer in range(2)])


def _map(weights: Tensor, labels: tuple[str, ...], title: str, digits: int = -1) -> Panel:
    """A map of weights, whose rows are the last tokens."""
    names = [f"{at} {label.strip('[]').lower()}" for at, label in enumerate(labels)]
    look = {"rows": names[-len(weights) :], "cols": names, "digits": digits}
    return panel(title, weights.tolist(), kind="weights", **look)


def induction(word: str, head: int, again: int) -> Values:
    """Which token the last one attends to, on a word that begins again."""
    labels, weights = _letters(word, again)
    rows, letter = weights[1, head], labels[-1]
    best = int(rows[-1].argmax())
    names = [f"“{label}” at position {at}" for at, label in enumerate(labels)]
    return {
        "given": [_map(rows, labels, TITLE.format(head))],
        "letter": letter,
        "most": float(rows[-1, best]),
        "right": names[best],
        "before": names[labels.index(letter)],
        "previous": names[-2],
        "first": names[0],
    }


def evidence(word: str, head: int) -> Values:
    """A row of weights, most of which is on one token."""
    labels, weights = _letters(word, 3)
    last = weights[1, head, -1:]
    given = [_map(last, labels, TITLE.format(head), digits=2)]
    return {"given": given, "share": last.max().item()}


def previous(word: str) -> Values:
    """Which of four heads attends to the previous token."""
    labels, weights = _letters(word, 3)
    heads = {f"layer {at[0]}, head {at[1]}": weights[at] for at in ((0, 0), (0, 1), (1, 0), (1, 1))}
    means = {name: float(each.diagonal(-1).mean()) for name, each in heads.items()}
    right = max(means, key=means.__getitem__)
    others = [{"name": name, "share": share} for name, share in means.items() if name != right]
    maps = [_map(each, labels, name) for name, each in heads.items()]
    return {"given": maps, "most": means[right], "right": right, "wrong": others}


def missing(word: str, at: int) -> Values:
    """A row of weights without its first."""
    labels, weights = _letters(word, 3)
    first, *others = weights[0, 0, at, : at + 1].tolist()
    cols, title = [f"{n} {labels[n]}" for n in range(1, at + 1)], "The other weights of this row"
    return {
        "given": [panel(title, [others], cols=cols, kind="weights", digits=4)],
        "answer": first,
        "label": labels[at],
        "at": at,
        "first": labels[0],
        "others": others,
    }


@cache
def _class_weights(picture: str) -> Tensor:
    """Weights "layer head row col" of the class token on a handwritten digit."""
    trace = real.traced("digits", folder(entry("digits")) / picture)
    weights = torch.stack([trace.weights(site.layer)[:, 0, 1:] for site in trace.sites])
    side = int(weights.shape[-1] ** 0.5)
    return rearrange(weights, "layer head (row col) -> layer head row col", col=side)


@cache
def clear(picture: str) -> list[tuple[list[int], list[float]]]:
    """Layer and head of every map of a digit on which one quarter clearly leads, and its sums."""
    halves = "layer head (down row) (right col) -> layer head (down right)"
    quarters = reduce(_class_weights(picture), halves, "sum", down=2, right=2)
    first, second = quarters.topk(2).values.unbind(-1)
    clear = (first - second > CLEAR).nonzero().tolist()
    return [(place, quarters[tuple(place)].tolist()) for place in clear]


def digit(name: str, place: tuple[list[int], list[float]]) -> Values:
    """Which quarter of a digit the class token attends to most."""
    (layer, head), quarters = place
    named = dict(zip(QUARTERS, quarters, strict=True))
    right = max(named, key=named.__getitem__)
    weights = _class_weights(name)[layer, head]
    side = [*map(str, range(len(weights)))]
    look = {"rows": side, "cols": side, "kind": "weights", "digits": -1}
    map_ = panel("Weights of the class token", weights.tolist(), **look)
    return {
        "given": [_enlarged(name), map_],
        "digit": DIGITS[name],
        "layer": layer,
        "head": head,
        "most": named[right],
        "right": right,
        "wrong": [{"name": each, "share": named[each]} for each in QUARTERS if each != right],
    }


@cache
def _enlarged(picture: str) -> Panel:
    """The digit that the network reads, a cell for each pixel."""
    with Image.open(folder(entry("digits")) / picture) as opened:
        levels = np.asarray(opened.convert("L")) / 255
    return panel("The image", levels.tolist(), kind="weights", digits=-1)
