"""Three tokens through three matrices, and the attention of one of them to all."""

from math import sqrt
from typing import Any

import torch
from torch import Tensor

from models.attention import Dot, Pattern, attend
from models.seeding import seeded
from viz.course.boards import Board, Panel, board, panel, signed
from viz.course.numbers import follow

TOKENS = ["animal", "street", "it"]
FEATURES = 3
WIDTH = 2  # of a query, a key and a value


def numbers(
    word: int,
    x: list[float],
    wq: list[float],
    wk: list[float],
    wv: list[float],
    dq: list[float],
    dk: list[float],
) -> dict[str, Any]:
    """Every number from the tokens to the output, for all tokens and for one of them.

    Args:
        word: the token that attends.
        x: the tokens, row by row; likewise the matrices `wq`, `wk` and `wv`.
        dq: how far the reader has moved the query of `word`.
        dk: how far the reader has moved each key.
    """
    tokens = torch.tensor(x).view(len(TOKENS), FEATURES)
    matrices = [torch.tensor(each).view(WIDTH, FEATURES) for each in (wq, wk, wv)]
    pattern = word_by_word(tokens, *matrices)
    q, k, v = (each[0, 0] for each in (pattern.q, pattern.k, pattern.v))
    query = q[word : word + 1] + torch.tensor(dq)
    keys = k + torch.tensor(dk).view(len(TOKENS), WIDTH)
    whole = {f"all_{name}": each for name, each in follow(pattern).items()}
    one = {name: each[0] for name, each in follow(one_head(query, keys, v)).items()}
    weights = one["weights"]
    return {
        **dict(zip(("wq", "wk", "wv", "q", "k", "v"), (*matrices, q, k, v), strict=True)),
        **whole,
        "all_outputs": whole["all_values"],
        **one,
        "output": one["values"],
        "x": tokens,
        "query": query[0],
        "keys": keys,
        "contributions": weights[:, None] * v,
        "tokens": TOKENS,
        "token": TOKENS[word],
        "total": one["sums"],
        "best": TOKENS[int(weights.argmax())],
        "largest": weights.max(),
    }


def one_head(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None) -> Pattern:
    """`attend` without axes for the batch and heads; a scale of None means 1/√dim."""
    _, pattern = attend(q[None, None], k[None, None], v[None, None], score=Dot(scale=scale))
    return pattern


def word_by_word(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Pattern:
    """Words as rows: q, k and v of every word, and attention from word to word, over √dim."""
    return one_head(x @ wq.T, x @ wk.T, x @ wv.T)


def feature_by_feature(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Pattern:
    """The same symbols with words as columns: QKᵀ then compares features, not words.

    With words as columns, W x has words as columns too, and each of its rows is one feature over
    all words: that is what attends here. Scores are divided by the root of the input's width.
    """
    return one_head(wq @ x, wk @ x, wv @ x, scale=1 / sqrt(len(x)))


def columns() -> Board:
    """Words as columns: the same symbols compare features; and word by word below it."""
    x, *matrices = printed()
    words, features = ("word 0", "word 1"), ("feature 0", "feature 1")

    def reading(pattern: Pattern, how: str, names: tuple[str, ...]) -> tuple[list[Panel], ...]:
        steps, look = follow(pattern), {"digits": 4}
        vectors = zip(("Q", "K", "V"), (pattern.q, pattern.k, pattern.v), strict=True)
        first, *others = (signed(name, each[0, 0], **look) for name, each in vectors)
        weights = panel(f"{how}: weights", steps["weights"], rows=names, kind="weights", digits=4)
        return (
            [{**first, "title": f"{how}: Q", "rows": names}, *others],
            [weights, signed("result", steps["values"], sign="→", digits=4)],
        )

    given = [panel(f"W_{{{n}}}", each, digits=4) for n, each in zip("qkv", matrices, strict=True)]
    return board(
        [panel("x", x, cols=words, digits=4), *given],
        *reading(feature_by_feature(x, *matrices), "words as columns", features),
        *reading(word_by_word(x.T, *matrices), "word by word", words),
    )


def printed() -> list[Tensor]:
    """Two words as columns, and W_q, W_k and W_v, as a course has printed them."""
    query, key, value = (0, torch.randn, (2, 3)), (1, torch.rand, (2, 3)), (2, torch.rand, (2, 3))
    tensors = []
    for seed, draw, shape in ((10, torch.rand, (3, 2)), query, key, value):
        with seeded(seed):
            tensors.append(draw(shape))
    return tensors


BOARDS = {"columns": columns}
