"""The exercises on attention: softmax, masks, several heads, and a key–value cache."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import torch
from einops import rearrange
from torch import Tensor
from torch.nn import functional as F

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from notebooks.grading.exercise import Exercise, Mistake, random

TOKENS, HEADS, WIDTH = 7, 3, 5  # no two alike, so that no axis can be taken for another
BATCH, QUERIES, KEYS, VALUE = 2, 3, 7, 11

Root = Callable[[int, int], float]


def softmax(
    scores: Tensor,
    *,
    axis: int | tuple[int, ...] = -1,
    total: int | None = None,
    divide: bool = True,
) -> Tensor:
    """A softmax of large scores, with a place for each mistake."""
    exps = (scores - scores.amax(axis, keepdim=True)).exp()
    sums = exps.sum(axis if total is None else total, keepdim=True)
    return exps / sums if divide else exps


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    root: Root = lambda width, other: sqrt(width),
    axis: int = -1,
    weigh: Callable[[Tensor, int], Tensor] = torch.softmax,
) -> Tensor:
    """Scaled dot-product attention."""
    return weigh(q @ k.mT / root(q.shape[-1], v.shape[-1]), axis) @ v


def causal_mask(
    tokens: int, *, last: int = 0, turned: bool = False, inverted: bool = False
) -> Tensor:
    """Which key (column) each query (row) may see."""
    visible = torch.ones(tokens, tokens, dtype=torch.bool).tril(last)
    visible = visible.mT if turned else visible
    return ~visible if inverted else visible


def padding_mask(
    lengths: Tensor, tokens: int, *, extra: int = 0, inverted: bool = False, axis: bool = True
) -> Tensor:
    """Which keys are real tokens, with an axis for the queries."""
    visible = torch.arange(tokens) < (lengths + extra)[:, None]
    visible = ~visible if inverted else visible
    return visible[:, None] if axis else visible


def masked_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor,
    *,
    root: Root = lambda width, other: sqrt(width),
    inverted: bool = False,
    fill: float = -torch.inf,
    late: bool = False,
) -> Tensor:
    """Attention to visible keys alone."""
    hidden = visible if inverted else ~visible
    scores = q @ k.mT / root(q.shape[-1], v.shape[-1])
    if late:
        return scores.softmax(-1).masked_fill(hidden, 0) @ v
    return scores.masked_fill(hidden, fill).softmax(-1).nan_to_num() @ v


def split(x: Tensor, heads: int) -> Tensor:
    """`token (head dim)` as `head token dim`."""
    return rearrange(x, "token (head dim) -> head token dim", head=heads)


def merge(x: Tensor) -> Tensor:
    """`head token dim` as `token (head dim)`."""
    return rearrange(x, "head token dim -> token (head dim)")


def multi_head(
    x: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_out: Tensor,
    heads: int,
    *,
    root: Root = lambda width, dim: sqrt(width),
    axis: int = -1,
    into: Callable[[Tensor, int], Tensor] = split,
    back: Callable[[Tensor], Tensor] = merge,
    crossed: bool = False,
    out: bool = True,
    weigh: Callable[[Tensor, int], Tensor] = torch.softmax,
    turned_in: bool = False,
    turned_out: bool = False,
    one: str = "",
) -> Tensor:
    """Multi-head self-attention, with a place for each mistake."""
    dim = x.shape[-1]
    parts = 1 if one else heads
    q, k, v = (into(x @ (w if turned_in else w.T), parts) for w in (w_query, w_key, w_value))
    width = dim // heads if one == "scaled" else q.shape[-1]
    scores = (k @ q.mT if crossed else q @ k.mT) / root(width, dim)
    together = back(weigh(scores, axis) @ v)
    if not out:
        return together
    return together @ (w_out if turned_out else w_out.T)


def next_output(
    x: Tensor,
    keys: Tensor,
    values: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    *,
    root: Root = lambda width, dim: sqrt(width),
    seen: str = "all",
    kept: bool = True,
    exchanged: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of attention with a cache."""
    query, key, value = (x @ w.T for w in (w_query, w_key, w_value))
    key, value = (value, key) if exchanged else (key, value)
    pairs = ((key[None], keys), (value[None], values))
    all_keys, all_values = (torch.cat([old, new]) for new, old in pairs)
    if seen == "old" and len(keys):
        out = (keys @ query / root(len(query), len(x))).softmax(0) @ values
    else:
        out = (all_keys @ query / root(len(query), len(x))).softmax(0) @ all_values
    return (out, all_keys, all_values) if kept else (out, keys, values)


def _steps(written: Callable[..., Any], tokens: Tensor, *matrices: Tensor) -> Tensor:
    """The outputs of one token after another, each with the cache of the last step."""
    keys, values = tokens[:0, :WIDTH], tokens[:0, :WIDTH]
    outputs = []
    for x in tokens:
        out, keys, values = written(x, keys, values, *matrices)
        outputs.append(out)
    return torch.stack(outputs)


def _alone(scores: Tensor, axis: int) -> Tensor:
    return scores


NO_SCALE = Mistake(
    "no scale",
    {"root": lambda width, other: 1.0},
    "The scores are not scaled: divide q · k by the root of the width of a key.",
)
NO_ROOT = Mistake(
    "no root",
    {"root": lambda width, other: float(width)},
    "The scores are divided by the width itself: take its square root.",
)
VALUE_WIDTH = Mistake(
    "root of the value's width",
    {"root": lambda width, other: sqrt(other)},
    "The scores are divided by the root of the width of a *value*: queries and keys count.",
)
SOFTMAX = (
    Mistake(
        "over the rows",
        {"axis": 0},
        "The softmax runs over the rows: each row's weights must sum to 1 (the last axis).",
    ),
    Mistake(
        "sums of columns",
        {"total": 0},
        "The exponentials are divided by the sum of their column: by that of their row (the last"
        " axis).",
    ),
    Mistake(
        "over everything",
        {"axis": (-2, -1)},
        "The whole table sums to 1: each row has a sum of its own (`keepdim=True`).",
    ),
    Mistake("not divided", {"divide": False}, "The exponentials are not divided by their sum."),
)
ATTENTION = (
    NO_SCALE,
    NO_ROOT,
    VALUE_WIDTH,
    Mistake(
        "softmax over queries",
        {"axis": -2},
        "The softmax runs over the queries: each query's weights over the *keys* must sum to 1"
        " (the last axis of the scores).",
    ),
    Mistake(
        "no softmax",
        {"weigh": _alone},
        "The scores are used as weights: each query's scores go through a softmax first.",
    ),
)
CAUSAL = (
    Mistake(
        "not itself", {"last": -1}, "No token sees itself: the diagonal is visible (`tril(0)`)."
    ),
    Mistake(
        "the next one too",
        {"last": 1},
        "Each token sees the one after it: nothing above the diagonal is visible.",
    ),
    Mistake(
        "upper triangle",
        {"turned": True},
        "Tokens see what comes after them: rows are queries, columns are keys (`tril`).",
    ),
    Mistake(
        "inverted",
        {"inverted": True},
        "True and False are exchanged: True is what a query *may* see.",
    ),
)
PADDING = (
    Mistake("one too many", {"extra": 1}, "One token too many is visible: positions begin at 0."),
    Mistake("one too few", {"extra": -1}, "One token too few is visible: positions begin at 0."),
    Mistake("inverted", {"inverted": True}, "True and False are exchanged: True is a real token."),
    Mistake(
        "no axis for queries",
        {"axis": False},
        "The axis of the queries is missing: `[:, None]` puts it in the middle.",
    ),
)
MASKED = (
    NO_SCALE,
    NO_ROOT,
    Mistake("inverted", {"inverted": True}, "The visible keys are hidden: fill where ~visible."),
    Mistake(
        "filled with 0",
        {"fill": 0.0},
        "A hidden score of 0 is exp(0) = 1, and gets weight: fill with −∞.",
    ),
    Mistake(
        "after the softmax",
        {"late": True},
        "Hidden weights are set to 0 after the softmax, and the rest no longer sums to 1: hide the"
        " *scores*, before the softmax.",
    ),
)
MULTI_HEAD = (
    Mistake(
        "no scale",
        {"root": lambda width, dim: 1.0},
        "The scores are not scaled: divide q · k by the root of the head's width.",
    ),
    Mistake(
        "scale of the model",
        {"root": lambda width, dim: sqrt(dim)},
        "The scores are divided by the root of the model's width `dim`; each head is only"
        " `dim / heads` wide, and its own width counts.",
    ),
    Mistake(
        "no root",
        {"root": lambda width, dim: float(width)},
        "The scores are divided by the head's width itself: take its square root.",
    ),
    *ATTENTION[3:],
    Mistake(
        "softmax over heads",
        {"axis": 0},
        "The softmax runs over the heads: it belongs to the last axis, the keys.",
    ),
    Mistake(
        "queries and keys swapped",
        {"crossed": True},
        "Queries and keys are swapped: rows of the scores are queries (q @ k.T), not keys.",
    ),
    Mistake(
        "heads cut across tokens",
        {"into": lambda x, heads: x.reshape(heads, len(x), -1)},
        "Reshaping to heads × tokens × width mixes tokens: first cut each token's numbers into"
        " heads (tokens × heads × width), then exchange the first two axes.",
    ),
    Mistake(
        "attention between heads",
        {
            "into": lambda x, h: rearrange(x, "token (head dim) -> token head dim", head=h),
            "back": lambda x: x.flatten(1),
        },
        "Each token's heads attend to each other: exchange the first two axes after cutting, to"
        " heads × tokens × width, so that in each head tokens attend to tokens.",
    ),
    Mistake(
        "heads merged without exchanging axes",
        {"back": lambda x: x.reshape(x.shape[1], -1)},
        "Reshaping heads × tokens × width to tokens × dim mixes tokens: exchange the first two axes"
        " back before the heads are put side by side.",
    ),
    Mistake(
        "numbers dealt to heads in turn",
        {"into": lambda x, h: rearrange(x, "token (dim head) -> head token dim", head=h)},
        "The numbers are dealt to the heads in turn: each head takes `dim / heads` numbers that"
        " stand side by side.",
    ),
    Mistake(
        "no output projection",
        {"out": False},
        "The last step is missing: the heads' results, side by side, go through `w_out`.",
    ),
    Mistake(
        "query, key and value not transposed",
        {"turned_in": True},
        "`w_query`, `w_key` and `w_value` are used the wrong way round: `x @ w.T`.",
    ),
    Mistake(
        "output not transposed",
        {"turned_out": True},
        "`w_out` is used the wrong way round: `… @ w_out.T`.",
    ),
    Mistake(
        "one head",
        {"one": "wide"},
        "There is only one head, as wide as the model: cut queries, keys and values into `heads`"
        " pieces, and let each have a softmax of its own.",
    ),
    Mistake(
        "one head, scaled as many",
        {"one": "scaled"},
        "The scale is right, but there is only one head: cut queries, keys and values into `heads`"
        " pieces, and let each have a softmax of its own.",
    ),
)
CACHE = (
    Mistake(
        "no scale",
        {"root": lambda width, dim: 1.0},
        "The scores are not scaled: divide q · k by the root of the width of a key.",
    ),
    Mistake(
        "root of the token's width",
        {"root": lambda width, dim: sqrt(dim)},
        "The scores are divided by the root of the token's width: that of a key counts.",
    ),
    Mistake(
        "not itself",
        {"seen": "old"},
        "The token does not see itself: append its key and value first, then attend.",
    ),
    Mistake(
        "nothing kept",
        {"kept": False},
        "The cache is returned as it came: return the keys and values with the new ones.",
    ),
    Mistake("key and value exchanged", {"exchanged": True}, "The key and the value are exchanged."),
)


def exercises() -> tuple[Exercise, ...]:
    """The exercises of notebooks 1, 2, 3 and 7."""
    return (*_basics(), *_masks(), _multi_head(), _cache())


def _basics() -> tuple[Exercise, ...]:
    scores = 3 * random(QUERIES, WIDTH, seed=1)
    scores[1] += 800
    q, k, v = _vectors()
    return (
        Exercise(
            "softmax",
            "01-attention",
            (scores,),
            scores.softmax(-1),
            ("row", "column"),
            softmax,
            SOFTMAX,
            infinite="exp(800) is too large for any float: subtract the largest score of each row"
            " first, which leaves the shares as they are.",
        ),
        Exercise(
            "attention",
            "01-attention",
            (q, k, v),
            F.scaled_dot_product_attention(q, k, v),
            ("batch", "query", "feature"),
            attention,
            ATTENTION,
        ),
    )


def _masks() -> tuple[Exercise, ...]:
    q, k, v = _vectors()
    causal = torch.tensor([[key <= query for key in range(TOKENS)] for query in range(TOKENS)])
    lengths = torch.tensor([2, 7, 5])
    real = torch.tensor([[[key < n for key in range(TOKENS)]] for n in lengths.tolist()])
    visible = torch.tensor([[[key < n for key in range(KEYS)]] for n in (4, 6)])
    return (
        Exercise(
            "causal_mask",
            "02-masks",
            (TOKENS,),
            causal.float(),
            ("query", "key"),
            causal_mask,
            CAUSAL,
        ),
        Exercise(
            "padding_mask",
            "02-masks",
            (lengths, TOKENS),
            real.float(),
            ("text", "query", "key"),
            padding_mask,
            PADDING,
            shapes={
                "must match the size of": "Lengths and positions have one axis each: give the"
                " lengths an axis of their own, `lengths[:, None]`, so that each meets every"
                " position."
            },
        ),
        Exercise(
            "masked_attention",
            "02-masks",
            (q, k, v, visible),
            F.scaled_dot_product_attention(q, k, v, attn_mask=visible),
            ("batch", "query", "feature"),
            masked_attention,
            MASKED,
        ),
    )


def _vectors() -> tuple[Tensor, Tensor, Tensor]:
    return (
        random(BATCH, QUERIES, WIDTH, seed=2),
        random(BATCH, KEYS, WIDTH, seed=3),
        random(BATCH, KEYS, VALUE, seed=4),
    )


def _multi_head() -> Exercise:
    dim = HEADS * WIDTH
    config = MultiHeadAttentionConfig(dim=dim, heads=HEADS, qkv_bias=False, out_bias=False)
    layer = MultiHeadAttention(config).eval()
    x, *matrices = (random(n, dim, seed=seed) for seed, n in enumerate((TOKENS, *[dim] * 4)))
    matrices = [0.4 * each for each in matrices]
    parts = (layer.query, layer.key, layer.value, layer.out)
    with torch.no_grad():
        for part, matrix in zip(parts, matrices, strict=True):
            part.get_parameter("weight").copy_(matrix)
        out, _ = layer(x[None])
    return Exercise(
        "multi_head_self_attention",
        "03-multi-head-attention",
        (x, *matrices, HEADS),
        out[0],
        ("token", "feature"),
        multi_head,
        MULTI_HEAD,
    )


def _cache() -> Exercise:
    dim = 11
    tokens = random(TOKENS, dim, seed=20)
    matrices = [0.5 * random(WIDTH, dim, seed=seed) for seed in (21, 22, 23)]
    q, k, v = (tokens @ matrix.T for matrix in matrices)
    return Exercise(
        "next_output",
        "07-decoding",
        (tokens, *matrices),
        F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0],
        ("step", "feature"),
        next_output,
        CACHE,
        shapes={
            "dimensions": "A new key is one vector, the cache a table: `key[None]` makes a row"
            " of it for torch.cat.",
            "unpack": "Return three things: out, keys, values.",
        },
        tried=_steps,
    )
