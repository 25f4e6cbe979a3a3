"""The numbers of the quiz: for each question of `questions.md` a function that draws them.

It returns the values that the texts compute with; `picture`, what is given, as HTML; and `answer`
to a sum, or `wrong`, the values of each wrong option of one text.
"""

import base64
from functools import cache, lru_cache
from math import radians, sin
from random import Random
from typing import Any

import torch
from einops import rearrange, reduce
from torch import Tensor

from models.attention import Dot, Mask, MultiHeadAttention, MultiHeadAttentionConfig
from models.blocks import standardised
from models.catalogue import entry, folder
from models.patches import cut
from models.positional import sinusoidal
from viz.course import real
from viz.course.dictionary.numbers import CASES
from viz.course.dictionary.numbers import case as case_of
from viz.course.numbers import softened
from viz.course.position.numbers import permuted
from viz.course.quiz.tables import facts, matrix, number, row

Values = dict[str, Any]


def _whole(dice: Random, count: int, low: int, high: int) -> list[float]:
    return [float(dice.randint(low, high)) for _ in range(count)]


def _keys(count: int) -> list[str]:
    return [f"key {place}" for place in range(count)]


# ---- with a pocket calculator


def score(dice: Random) -> Values:
    q, k = _whole(dice, 4, -3, 4), _whole(dice, 4, -3, 4)
    query, key = (torch.tensor([[[each]]]) for each in (q, k))
    return {
        "picture": matrix([q, k], title="Query and key", rows=("q", "k"), digits=0),
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
    picture = matrix([scores], title="Scores of one query", cols=_keys(3), digits=0)
    return {"picture": picture, "answer": weights[1], "w": weights, "s": scores, "exps": exps}


def mixture(dice: Random) -> Values:
    share = dice.choice((0.1, 0.2, 0.3, 0.7, 0.8, 0.9))
    weights, values = [share, 1 - share], _whole(dice, 2, 2, 40)
    rows, title = ("weight", "value"), "Weights and values"
    picture = matrix([weights, values], title=title, rows=rows, cols=_keys(2), digits=1)
    answer = (torch.tensor(weights) @ torch.tensor(values)).item()
    return {"picture": picture, "answer": answer, "w": weights, "v": values}


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
        "picture": matrix([weights], title="Weights", cols=_keys(4), digits=2),
        "right": right,
        "wrong": [{"name": name, "hint": hints[name]} for name in CASES if name != right],
        "total": total,
        "least": least,
    }


def causal(dice: Random) -> Values:
    n = dice.randint(4, 9)
    visible = Mask(causal=True).visible(torch.arange(n), n, [0])
    answer = float(n * n if visible is None else visible.sum())
    return {"picture": facts(Tokens=n, Weights=f"{n} × {n}"), "answer": answer, "n": n}


def shape(dice: Random) -> Values:
    heads, width, n = dice.choice((2, 3, 4)), dice.choice((5, 6, 8)), dice.choice((7, 9, 11))
    dim = heads * width
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=dim, heads=heads)).eval()
    with torch.no_grad():
        _, pattern = layer(torch.zeros(1, n, dim))
    right = " × ".join(map(str, pattern.weights(item=0).shape))
    picture = facts(Tokens=n, Width=dim, Heads=heads)
    return {"picture": picture, "right": right, "heads": heads, "width": width, "n": n, "dim": dim}


def parameters(dice: Random) -> Values:
    heads = dice.choice((2, 4, 5))
    dim = heads * dice.choice((4, 6, 10))
    config = MultiHeadAttentionConfig(dim=dim, heads=heads, qkv_bias=False, out_bias=False)
    count = float(sum(weights.numel() for weights in MultiHeadAttention(config).parameters()))
    return {"picture": facts(Width=dim, Heads=heads), "answer": count, "dim": dim, "heads": heads}


def norm(dice: Random) -> Values:
    vector = _whole(dice, 4, -4, 9)
    while len(set(vector)) < 3:
        vector = _whole(dice, 4, -4, 9)
    x = torch.tensor(vector)
    return {
        "picture": matrix([vector], title="One token", digits=0),
        "answer": standardised(x).tolist()[0],
        "mean": x.mean().item(),
        "deviation": x.std(correction=0).item(),
        "first": vector[0],
    }


def position(dice: Random) -> Values:
    at = dice.randint(1, 6)
    row, picture = sinusoidal(at + 1, 8)[at].tolist(), {"Position, counted from 0": at, "Width": 8}
    degrees = sin(radians(at))
    return {"picture": facts(**picture), "answer": row[0], "at": at, "row": row, "degrees": degrees}


def patches(dice: Random) -> Values:
    patch = dice.choice((4, 7, 8, 14, 16))
    side = patch * dice.choice((4, 6, 7, 14))
    count = cut(torch.zeros(1, 1, side, side), patch).shape[1]
    picture = facts(Image=f"{side} × {side} pixels", Patch=f"{patch} × {patch}")
    answer = float(count + 1)
    return {"picture": picture, "answer": answer, "side": side, "patch": patch, "count": count}


# ---- ideas

SENTENCES = (("dog", "bites", "man"), ("cats", "chase", "mice"), ("owls", "watch", "bats"))


def order(dice: Random) -> Values:
    words = dice.choice(SENTENCES)
    before, after = permuted(words, [2, 1, 0], positions=False)
    return {
        "picture": facts(First=" ".join(words), Second=" ".join(reversed(words))),
        "word": words[0],
        "last": words[2],
        "moved": float((before - after).norm(dim=-1).max()),
    }


def unscaled(dice: Random) -> Values:
    width = dice.choice((256, 512, 1024))
    return {
        "picture": facts(**{"Width d": width, "Keys": 8}),
        "width": width,
        "deviation": width**0.5,
    }


def key_values(dice: Random) -> Values:
    written = f"{dice.randint(5, 40)} tokens"
    return {"picture": facts(**{"Mask": "causal", "Generated so far": written})}


def evidence(dice: Random) -> Values:
    word, head = dice.choice(REPEATED), dice.randrange(2)
    labels, weights = _letters(word, 3)
    last = weights[1, head, -1:]
    title = f"Layer 1, head {head} of a network that continues repetitions"
    return {"picture": _map(last, labels, title), "share": last.max().item()}


# ---- maps of trained networks

REPEATED = ("magnet", "violet", "cobalt", "planet", "hybrid", "turnip", "walnut", "zodiac")
AGAIN = (2, 3, 4)  # letters of the word that come a second time
WIDE = 210  # pixels of an enlarged digit
DIGITS = {"a-three.png": "a three", "a-four.png": "a four", "an-eight.png": "an eight"}
CLEAR = 0.15  # by how much a quarter of the image leads
QUARTERS = ("upper left", "upper right", "lower left", "lower right")
FAINT = 0.05  # smaller weights are left out of a map
FAINT_LOOK: dict[str, Any] = {"digits": 1, "weights": True, "least": FAINT}


@lru_cache(maxsize=len(REPEATED) * len(AGAIN))
def _letters(word: str, again: int) -> tuple[tuple[str, ...], Tensor]:
    """Tokens of a word that begins again, and the weights "layer head query key" on it."""
    trace = real.traced("induction", f"{word} {word[:again]}")
    return tuple(trace.labels), torch.stack([trace.weights(layer) for layer in range(2)])


def _map(weights: Tensor, labels: tuple[str, ...], title: str, *, small: bool = False) -> str:
    """A map of weights, whose rows are the last tokens."""
    names = [f"{at} {label}" for at, label in enumerate(labels)]
    pairs = zip(labels, names, strict=True)
    cols = [(label if small else name) if len(label) == 1 else "0" for label, name in pairs]
    rows = weights.tolist()
    return matrix(rows, title=title, rows=names[-len(rows) :], cols=cols, **FAINT_LOOK)


def induction(dice: Random) -> Values:
    word, head, again = dice.choice(REPEATED), dice.randrange(2), dice.choice(AGAIN)
    labels, weights = _letters(word, again)
    rows, letter = weights[1, head], labels[-1]
    best = int(rows[-1].argmax())
    names = [f"“{label}” at position {at}" for at, label in enumerate(labels)]
    title = f"Layer 1, head {head} of a network that continues repetitions"
    return {
        "picture": _map(rows, labels, title),
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
    maps = (_map(each, labels, name, small=True) for name, each in heads.items())
    return {"picture": row(*maps), "most": means[right], "right": right, "wrong": others}


def missing(dice: Random) -> Values:
    labels, weights = _letters(dice.choice(REPEATED), 3)
    at = dice.randint(3, len(labels) - 1)
    first, *others = weights[0, 0, at, : at + 1].tolist()
    cols, title = [f"{n} {labels[n]}" for n in range(1, at + 1)], "The other weights of this row"
    return {
        "picture": matrix([others], title=title, cols=cols, weights=True),
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
    grid = _class_weights(name)[layer, head].tolist()
    side = [str(n) for n in range(len(grid))]
    title = "Weights of the class token"
    map_ = matrix(grid, title=title, rows=side, cols=side, **FAINT_LOOK)
    return {
        "picture": row(_enlarged(name), map_),
        "digit": DIGITS[name],
        "layer": layer,
        "head": head,
        "most": named[right],
        "right": right,
        "wrong": [{"name": each, "share": named[each]} for each in QUARTERS if each != right],
    }


@cache
def _enlarged(picture: str) -> str:
    """The digit that the network reads."""
    data = base64.b64encode((folder(entry("digits")) / picture).read_bytes()).decode()
    return (
        '<figure class="lesson-matrix"><figcaption>The image</figcaption><img alt="The image"'
        f' width="{WIDE}" style="max-width: 100%; height: auto; image-rendering: pixelated"'
        f' src="data:image/png;base64,{data}"></figure>'
    )


# ---- before you write the code


def heads(dice: Random) -> Values:
    heads, width, each = dice.choice((2, 3, 4)), dice.choice((5, 7)), dice.choice((2, 3))
    n, dim = each * heads, heads * width
    picture = facts(Tokens=n, Width=dim, Heads=heads)
    return {"picture": picture, "heads": heads, "width": width, "each": each, "n": n, "dim": dim}


def beyond(dice: Random) -> Values:
    n, dim = dice.choice((64, 128, 512)), dice.choice((32, 64))
    picture = facts(Positions=f"0 to {n - 1}", Width=dim)
    return {"picture": picture, "n": n, "dim": dim}


def axis(dice: Random) -> Values:
    x = [_whole(dice, 3, -4, 9) for _ in range(2)]
    rows, cols = ("token 0", "token 1"), [f"feature {at}" for at in range(3)]
    picture = matrix(x, title="Two tokens", rows=rows, cols=cols, digits=0)
    written = " + ".join(number(each, ".0f") for each in x[0])
    return {"picture": picture, "answer": sum(x[0]) / 3, "terms": written, "x": x[0], "y": x[1]}
