"""Three tokens through three matrices, and the attention of one of them to all."""

from typing import Any

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
