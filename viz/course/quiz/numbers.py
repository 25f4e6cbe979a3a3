"""The numbers of the quiz: for each question of `questions.md` a function that draws them.

It returns the values that the texts compute with; `given`, panels beside each other; and `answer`
to a sum, or `wrong`, the values of each wrong option of one text.
"""

from functools import cache, lru_cache
from math import radians, sin
from random import Random
from typing import Any

import numpy as np
import torch
from einops import rearrange, reduce
from PIL import Image
from torch import Tensor

from models.attention import Dot, Mask, MultiHeadAttention, MultiHeadAttentionConfig
from models.blocks import standardised
from models.catalogue import entry, folder
from models.positional import sinusoidal
from models.vit import cut
from viz.course import real
from viz.course.boards import Panel, panel
from viz.course.dictionary.numbers import CASES
from viz.course.dictionary.numbers import case as case_of
from viz.course.numbers import softened
from viz.course.position.numbers import permuted
from viz.course.prose import number

Values = dict[str, Any]


def _whole(dice: Random, count: int, low: int, high: int) -> list[float]:
    return [float(dice.randint(low, high)) for _ in range(count)]


def facts(**named: object) -> list[Panel]:
    """What is given, by name."""
    return [panel("Given", [[*map(str, named.values())]], cols=[*named])]


def _keys(count: int) -> list[str]:
    return [f"key {place}" for place in range(count)]


# ---- with a pocket calculator


def score(dice: Random) -> Values:
    q, k = _whole(dice, 4, -3, 4), _whole(dice, 4, -3, 4)
    query, key = (torch.tensor([[[each]]]) for each in (q, k))
    return {
        "given": [panel("Query and key", [q, k], rows=("q", "k"), digits=0)],
        "answer": Dot().scores(query, key, [0]).item(),
        "terms": product(q, k),
        "plain": Dot(scale=1.0).scores(query, key, [0]).item(),
    }


def product(a: list[float], b: list[float]) -> str:
    """A dot product of whole numbers written out as a sum of products."""

    def bracketed(term: str) -> str:
        return f"({term})" if term.startswith("−") else term

    pairs = zip(a, b, strict=True)
    terms = (f"{number(x, '.0f')}·{bracketed(number(y, '.0f'))}" for x, y in pairs)
    return " + ".join(map(bracketed, terms))


def weight(dice: Random) -> Values:
    scores = _whole(dice, 3, 1, 4)
    weights, exps = softened(torch.tensor(scores)).tolist(), torch.tensor(scores).exp().tolist()
    given = [panel("Scores of one query", [scores], cols=_keys(3), digits=0)]
    return {"given": given, "answer": weights[1], "w": weights, "s": scores, "exps": exps}


def mixture(dice: Random) -> Values:
    share = dice.choice((0.1, 0.2, 0.3, 0.7, 0.8, 0.9))
    weights, values = [share, 1 - share], _whole(dice, 2, 2, 40)
    look = {"rows": ("weight", "value"), "cols": _keys(2), "digits": 1}
    given = [panel("Weights and values", [weights, values], **look)]
    answer = (torch.tensor(weights) @ torch.tensor(values)).item()
    return {"given": given, "answer": answer, "w": weights, "v": values}


def case(dice: Random) -> Values:
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
        "given": [panel("Weights", [weights], cols=_keys(4))],
        "right": right,
        "wrong": [{"name": name, "hint": hints[name]} for name in CASES if name != right],
        "total": total,
        "least": least,
    }


def causal(dice: Random) -> Values:
    n = dice.randint(4, 9)
    visible = Mask(causal=True).visible(torch.arange(n), n, [0])
    answer = float(n * n if visible is None else visible.sum())
    return {"given": facts(Tokens=n, Weights=f"{n} × {n}"), "answer": answer, "n": n}


def shape(dice: Random) -> Values:
    heads, width, n = dice.choice((2, 3, 4)), dice.choice((5, 6, 8)), dice.choice((7, 9, 11))
    dim = heads * width
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=dim, heads=heads)).eval()
    with torch.no_grad():
        _, pattern = layer(torch.zeros(1, n, dim))
    right = " × ".join(map(str, pattern.weights(item=0).shape))
    given = facts(Tokens=n, Width=dim, Heads=heads)
    return {"given": given, "right": right, "heads": heads, "width": width, "n": n, "dim": dim}


def parameters(dice: Random) -> Values:
    heads = dice.choice((2, 4, 5))
    dim = heads * dice.choice((4, 6, 10))
    config = MultiHeadAttentionConfig(dim=dim, heads=heads, qkv_bias=False, out_bias=False)
    count = float(sum(weights.numel() for weights in MultiHeadAttention(config).parameters()))
    return {"given": facts(Width=dim, Heads=heads), "answer": count, "dim": dim, "heads": heads}


def norm(dice: Random) -> Values:
    vector = _whole(dice, 4, -4, 9)
    while len(set(vector)) < 3:
        vector = _whole(dice, 4, -4, 9)
    x = torch.tensor(vector)
    return {
        "given": [panel("One token", [vector], digits=0)],
        "answer": standardised(x).tolist()[0],
        "mean": x.mean().item(),
        "deviation": x.std(correction=0).item(),
        "first": vector[0],
    }


def position(dice: Random) -> Values:
    at = dice.randint(1, 6)
    row, given = sinusoidal(at + 1, 8)[at].tolist(), {"Position, counted from 0": at, "Width": 8}
    degrees = sin(radians(at))
    return {"given": facts(**given), "answer": row[0], "at": at, "row": row, "degrees": degrees}


def patches(dice: Random) -> Values:
    patch = dice.choice((4, 7, 8, 14, 16))
    side = patch * dice.choice((4, 6, 7, 14))
    count = cut(torch.zeros(1, 1, side, side), patch).shape[1]
    given = facts(Image=f"{side} × {side} pixels", Patch=f"{patch} × {patch}")
    answer = float(count + 1)
    return {"given": given, "answer": answer, "side": side, "patch": patch, "count": count}


# ---- ideas

SENTENCES = (("dog", "bites", "man"), ("cats", "chase", "mice"), ("owls", "watch", "bats"))


def order(dice: Random) -> Values:
    words = dice.choice(SENTENCES)
    before, after = permuted(words, [2, 1, 0], positions=False)
    return {
        "given": facts(First=" ".join(words), Second=" ".join(reversed(words))),
        "word": words[0],
        "last": words[2],
        "moved": float((before - after).norm(dim=-1).max()),
    }


def unscaled(dice: Random) -> Values:
    width = dice.choice((256, 512, 1024))
    return {
        "given": facts(**{"Width d": width, "Keys": 8}),
        "width": width,
        "deviation": width**0.5,
    }


def key_values(dice: Random) -> Values:
    written = f"{dice.randint(5, 40)} tokens"
    return {"given": facts(**{"Mask": "causal", "Generated so far": written})}


def evidence(dice: Random) -> Values:
    word, head = dice.choice(REPEATED), dice.randrange(2)
    labels, weights = _letters(word, 3)
    last = weights[1, head, -1:]
    title = f"Layer 1, head {head} of a network that continues repetitions"
    return {"given": [_map(last, labels, title, digits=2)], "share": last.max().item()}


# ---- maps of trained networks

REPEATED = ("magnet", "violet", "cobalt", "planet", "hybrid", "turnip", "walnut", "zodiac")
AGAIN = (2, 3, 4)  # letters of the word that come a second time
DIGITS = {"a-three.png": "a three", "a-four.png": "a four", "an-eight.png": "an eight"}
CLEAR = 0.15  # by how much a quarter of the image leads
QUARTERS = ("upper left", "upper right", "lower left", "lower right")


@lru_cache(maxsize=len(REPEATED) * len(AGAIN))
def _letters(word: str, again: int) -> tuple[tuple[str, ...], Tensor]:
    """Tokens of a word that begins again, and the weights "layer head query key" on it."""
    trace = real.traced("induction", f"{word} {word[:again]}")
    return tuple(trace.labels), torch.stack([trace.weights(layer) for layer in range(2)])


def _map(weights: Tensor, labels: tuple[str, ...], title: str, digits: int = -1) -> Panel:
    """A map of weights, whose rows are the last tokens."""
    names = [f"{at} {label.strip('[]').lower()}" for at, label in enumerate(labels)]
    look = {"rows": names[-len(weights) :], "cols": names, "digits": digits}
    return panel(title, weights.tolist(), kind="weights", **look)


def induction(dice: Random) -> Values:
    word, head, again = dice.choice(REPEATED), dice.randrange(2), dice.choice(AGAIN)
    labels, weights = _letters(word, again)
    rows, letter = weights[1, head], labels[-1]
    best = int(rows[-1].argmax())
    names = [f"“{label}” at position {at}" for at, label in enumerate(labels)]
    title = f"Layer 1, head {head} of a network that continues repetitions"
    return {
        "given": [_map(rows, labels, title)],
        "letter": letter,
        "most": float(rows[-1, best]),
        "right": names[best],
        "before": names[labels.index(letter)],
        "previous": names[-2],
        "first": names[0],
    }


def previous(dice: Random) -> Values:
    labels, weights = _letters(dice.choice(REPEATED), 3)
    heads = {f"layer {at[0]}, head {at[1]}": weights[at] for at in ((0, 0), (0, 1), (1, 0), (1, 1))}
    means = {name: float(each.diagonal(-1).mean()) for name, each in heads.items()}
    right = max(means, key=means.__getitem__)
    others = [{"name": name, "share": share} for name, share in means.items() if name != right]
    maps = [_map(each, labels, name) for name, each in heads.items()]
    return {"given": maps, "most": means[right], "right": right, "wrong": others}


def missing(dice: Random) -> Values:
    labels, weights = _letters(dice.choice(REPEATED), 3)
    at = dice.randint(3, len(labels) - 1)
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
def _clear(picture: str) -> list[tuple[list[int], list[float]]]:
    """Layer and head of every map on which one quarter clearly leads, and the four sums."""
    halves = "layer head (down row) (right col) -> layer head (down right)"
    quarters = reduce(_class_weights(picture), halves, "sum", down=2, right=2)
    first, second = quarters.topk(2).values.unbind(-1)
    clear = (first - second > CLEAR).nonzero().tolist()
    return [(place, quarters[tuple(place)].tolist()) for place in clear]


def digit(dice: Random) -> Values:
    name = dice.choice(tuple(DIGITS))
    (layer, head), quarters = dice.choice(_clear(name))
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


# ---- before you write the code


def heads(dice: Random) -> Values:
    heads, width, each = dice.choice((2, 3, 4)), dice.choice((5, 7)), dice.choice((2, 3))
    n, dim = each * heads, heads * width
    given = facts(Tokens=n, Width=dim, Heads=heads)
    return {"given": given, "heads": heads, "width": width, "each": each, "n": n, "dim": dim}


def beyond(dice: Random) -> Values:
    n, dim = dice.choice((64, 128, 512)), dice.choice((32, 64))
    given = facts(Positions=f"0 to {n - 1}", Width=dim)
    return {"given": given, "n": n, "dim": dim}


def axis(dice: Random) -> Values:
    x = [_whole(dice, 3, -4, 9) for _ in range(2)]
    rows, cols = ("token 0", "token 1"), [f"feature {at}" for at in range(3)]
    given = [panel("Two tokens", x, rows=rows, cols=cols, digits=0)]
    written = " + ".join(number(each, ".0f") for each in x[0])
    return {"given": given, "answer": sum(x[0]) / 3, "terms": written, "x": x[0], "y": x[1]}
