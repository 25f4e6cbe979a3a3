"""Three tokens through three matrices, and the attention of one of them to all."""

from typing import TYPE_CHECKING, Any

from viz.course.boards import Board, Panel, board, panel

if TYPE_CHECKING:
    from models.attention import Pattern

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
        x: the tokens, row by row.
        wq: the matrix of queries, row by row.
        wk: that of keys.
        wv: that of values.
        dq: how far the reader has moved the query of `word`.
        dk: how far the reader has moved each key.
    """
    import torch

    from models import simple
    from models.lessons import followed

    tokens = torch.tensor(x).view(1, len(TOKENS), FEATURES)
    matrices = simple.Matrices(*(torch.tensor(each).view(WIDTH, FEATURES) for each in (wq, wk, wv)))
    _, pattern = simple.word_by_word(tokens, matrices)
    every = followed.follow(pattern)
    q, k, v = (each[:, 0] for each in (pattern.q, pattern.k, pattern.v))
    query = q[:, word : word + 1] + torch.tensor(dq)
    keys = k + torch.tensor(dk).view(1, len(TOKENS), WIDTH)
    _, moved = simple.one_head(query, keys, v)
    one = followed.follow(moved)
    weights, output = one.weights[0], one.values[0]
    return {
        "tokens": TOKENS,
        "token": TOKENS[word],
        "word": word,
        "x": tokens[0].tolist(),
        "wq": matrices.query.tolist(),
        "wk": matrices.key.tolist(),
        "wv": matrices.value.tolist(),
        "q": q[0].tolist(),
        "k": k[0].tolist(),
        "v": v[0].tolist(),
        "all_scores": every.scores.tolist(),
        "all_weights": every.weights.tolist(),
        "all_outputs": every.values.tolist(),
        "query": query[0, 0].tolist(),
        "keys": keys[0].tolist(),
        "terms": [followed.terms(query[0, 0], key)[0].tolist() for key in keys[0]],
        "products": one.products[0].tolist(),
        "scores": one.scores[0].tolist(),
        "exponentials": one.exponentials[0].tolist(),
        "total": one.sums[0].item(),
        "weights": weights.tolist(),
        "contributions": (weights[:, None] * v[0]).tolist(),
        "output": output.tolist(),
        "best": TOKENS[int(weights.argmax())],
        "largest": weights.max().item(),
    }


def columns() -> Board:
    """Words as columns: the same symbols compare features; and word by word below it."""
    from models import simple
    from models.lessons.followed import follow

    x, matrices = simple.columns_and_matrices()
    _, feature = simple.feature_by_feature(x, matrices)
    _, word = simple.word_by_word(x.transpose(1, 2), matrices)
    words, features = ("word 0", "word 1"), ("feature 0", "feature 1")

    def reading(pattern: "Pattern", how: str, names: tuple[str, ...]) -> list[Panel]:
        steps = follow(pattern)
        parts = {"Q": pattern.q[0, 0], "K": pattern.k[0, 0], "V": pattern.v[0, 0]}
        parts |= {"weights": steps.weights, "result": steps.values}
        return [
            panel(
                f"{how}: {name}" if name in ("Q", "weights") else name,
                part.tolist(),
                rows=names if name in ("Q", "weights") else (),
                kind="weights" if name == "weights" else "signed",
                digits=4,
                sign="→" if name == "result" else "",
            )
            for name, part in parts.items()
        ]

    wq, wk, wv = (
        panel(f"W_{{{name}}}", each.tolist(), digits=4)
        for name, each in zip("qkv", matrices, strict=True)
    )
    by_columns, by_words = (
        reading(feature, "words as columns", features),
        reading(word, "word by word", words),
    )
    return board(
        [panel("x", x[0].tolist(), cols=words, digits=4), wq, wk, wv],
        by_columns[:3],
        by_columns[3:],
        by_words[:3],
        by_words[3:],
    )


BOARDS = {"columns": lambda _: columns()}
