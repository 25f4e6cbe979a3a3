"""A layer of several heads on four words, what their number costs, and the heads of MiniLM."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.course.boards import Board, board, panel, table
from viz.course.heads import real
from viz.course.inputs import InputError
from viz.course.real import about
from viz.course.trained import encoded, traced

if TYPE_CHECKING:
    from models.attention import MultiHeadAttention

DIM, SEED = 12, 3
WORDS = ("the", "cat", "was", "tired")
COUNTS = (1, 2, 3, 4, 6, 12)  # of heads: the divisors of DIM
LOUD = 2.5  # deviation of the words' random numbers: the weights of such heads differ visibly
EIGHT = 8  # heads of the first transformer
FEWEST, MOST = 4, 20  # tokens of a sentence for MiniLM


def numbers(
    heads: str,
    token: int,
    head: int,
    trained: str,
    among: str,
    sentence: str,
    layer: int,
    query: int,
    key: int,
) -> dict[str, Any]:
    """The layer with random weights; MiniLM only where it is asked for.

    Args:
        heads: their number, one of `COUNTS`.
        token: index of the word that is followed.
        head: the chosen head; the last one where there are fewer.
        trained: "yes" for the heads of MiniLM, "cell" for a single weight of a head, too.
        among: "words" to leave [CLS] and [SEP] out of the habits.
        sentence: that MiniLM reads.
        layer: of MiniLM.
        query: the token of MiniLM that attends; the last one where there are fewer.
        key: the token that it attends to, likewise.
    """
    values = _layer(int(heads), token, min(head, int(heads) - 1))
    costs = {str(each): _costs(each) for each in COUNTS}
    return {
        **values,
        "costs": costs,
        "one": costs["1"],
        "now": costs[heads],
        "trained": None if trained == "no" else _trained(sentence, layer, head, among),
        **(_cell(sentence, layer, head, query, key) if trained == "cell" else {}),
    }


def _seeded_layer(heads: int) -> "MultiHeadAttention":
    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
    from models.seeding import seeded

    with seeded(SEED):
        return MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=heads)).eval()


@lru_cache(maxsize=64)
def _layer(heads: int, token: int, head: int) -> dict[str, Any]:
    """Every number of one word on its way through the layer."""
    import torch

    from models.lessons.followed import follow
    from models.seeding import seeded

    layer = _seeded_layer(heads)
    with seeded(SEED):
        x = LOUD * torch.randn(1, len(WORDS), DIM)
    with torch.no_grad():
        out, pattern = layer(x)
    values = [follow(pattern, head=each).values[token] for each in range(heads)]
    parts = {"q": pattern.q, "k": pattern.k, "v": pattern.v}
    weights, scores = pattern.weights(item=0), pattern.scores(item=0)
    return {
        "words": WORDS,
        "token": token,
        "word": WORDS[token],
        "count": heads,
        "width": DIM // heads,
        "head": head,
        "x": x[0, token].tolist(),
        **{name: part[0, :, token].flatten().tolist() for name, part in parts.items()},
        "scores": scores.tolist(),
        "weights": weights.tolist(),
        "joined": torch.cat(values).tolist(),
        "out": out[0, token].tolist(),
        "stored": weights.numel(),
    }


@lru_cache(maxsize=len(COUNTS))
def _costs(heads: int) -> dict[str, int]:
    """Parameters of the layer, and its work on the four words: multiplications, exponentials."""
    from models.attention import MultiHeadAttentionConfig
    from models.cost import blocks

    part = blocks.attention(MultiHeadAttentionConfig(dim=DIM, heads=heads), len(WORDS))
    flops = {each.name: each.flops // 2 for each in part.parts}
    return {
        "parameters": part.parameters,
        "projections": sum(count for name, count in flops.items() if name != "attend"),
        "products": flops["attend"],
        "exponentials": heads * len(WORDS) ** 2,
    }


@lru_cache(maxsize=64)
def _trained(sentence: str, layer: int, head: int, among: str) -> dict[str, Any]:
    """The weights of a layer's heads on a sentence, and the habit each comes closest to.

    Raises:
        InputError: for a sentence of too few or too many tokens.
    """
    labels, weights, names, scores = _read(sentence, among)
    return {
        "tokens": labels,
        "weights": weights[layer],
        "names": names[layer],
        "scores": scores[layer],
        "layer": layer,
        "head": head,
        "name": names[layer][head],
        "score": scores[layer][head],
    }


@lru_cache(maxsize=256)
def _cell(sentence: str, layer: int, head: int, query: int, key: int) -> dict[str, Any]:
    """How one weight of MiniLM comes about, product by product."""
    read = traced("minilm", sentence)
    pattern, count = read.pattern(layer), len(read.labels)
    at = min(query, count - 1), min(key, count - 1)
    q, k = pattern.q[0, head, at[0]], pattern.k[0, head, at[1]]
    products = q * k
    return {
        "cell": {
            "query": at[0],
            "key": at[1],
            "asks": read.labels[at[0]],
            "asked": read.labels[at[1]],
            "q": q.tolist(),
            "k": k.tolist(),
            "products": products.tolist(),
            "width": len(products),
            "sum": products.sum().item(),
            "score": read.scores(layer)[head, at[0], at[1]].item(),
            "weight": read.weights(layer, head)[at].item(),
            "of_map": count * count * len(products),
        },
        **about(
            "minilm",
            form="head",
            input=sentence,
            layer=layer,
            head=head,
            token=at[0],
            partner=at[1],
        ),
    }


@lru_cache(maxsize=16)
def _read(sentence: str, among: str) -> tuple[list[str], list[Any], list[Any], list[Any]]:
    from analysis.habits import habits

    count = len(encoded("minilm", sentence))
    if not FEWEST <= count <= MOST:
        raise InputError(f"sentence: expected {FEWEST} to {MOST} tokens, received {count}")
    read = traced("minilm", sentence)
    result = habits(read, words=among == "words")
    weights = [_short(read.weights(site.layer).tolist()) for site in read.sites]
    return read.labels, weights, list(result.names), result.scores.amax(0).tolist()


def _short(numbers: Any) -> Any:
    """Nested lists of numbers, to four decimals."""
    if isinstance(numbers, list):
        return [_short(each) for each in numbers]
    return round(numbers, 4)


@lru_cache(maxsize=1)
def _eight() -> Board:
    """Eight heads on the four words: Z₀ … Z₇, side by side, and mixed."""
    import torch

    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
    from models.lessons.followed import follow
    from models.seeding import seeded

    with seeded(SEED):
        config = MultiHeadAttentionConfig(dim=2 * EIGHT, heads=EIGHT, qkv_bias=False)
        layer = MultiHeadAttention(config).eval()
        x = LOUD * torch.randn(1, len(WORDS), 2 * EIGHT)
    with torch.no_grad():
        out, pattern = layer(x)
    weights = layer.get_parameter("out.weight")
    each = [follow(pattern, head=head).values for head in range(EIGHT)]
    panels = [
        panel(f"Z_{{{n}}}", z.tolist(), rows=WORDS if n % 4 == 0 else (), kind="signed")
        for n, z in enumerate(each)
    ]
    bare: dict[str, Any] = {"kind": "signed", "digits": -1}
    return board(
        panels[:4],
        panels[4:],
        [
            panel("Z_{0} … Z_{7}: 4 × 16", torch.cat(each, dim=1).tolist(), **bare),
            panel("W^{O}: 16 × 16", weights.T.tolist(), sign="·", **bare),
            panel("Z: 4 × 16", out[0].tolist(), sign="=", **bare),
        ],
    )


LAYERS: dict[
    str, tuple[tuple[int, int, int], dict[str, Any]]
] = {  # layers that courses build: batch, tokens and width of the input, then the layer's
    "8 heads of 64 in 128": ((1, 257, 128), {"dim": 128, "heads": 8, "head_dim": 64}),
    "20 heads of 10 in 10": ((8, 5, 10), {"dim": 10, "heads": 20, "head_dim": 10}),
    "5 heads of 20, 5 to 100": ((16, 5, 5), {"dim": 100, "heads": 5, "input_dim": 5}),
}


def shapes() -> Board:
    """The shapes of three layers, step by step, and the parameters without biases."""
    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig

    columns = []
    for (batch, tokens, reads), fields in LAYERS.values():
        config = MultiHeadAttentionConfig(**fields, qkv_bias=False, out_bias=False)
        heads, width = config.heads, config.width
        inside = heads * width
        layer = MultiHeadAttention(config)
        sizes = [
            (batch, tokens, reads),
            (batch, tokens, inside),
            (batch, heads, tokens, width),
            (batch * heads, tokens, width),
            (batch, heads, tokens, tokens),
            (batch, tokens, inside),
            (batch, tokens, config.dim),
        ]
        count = sum(each.numel() for each in layer.parameters())
        columns.append([*(" × ".join(map(str, size)) for size in sizes), f"{count:,}"])
    names = ["x", "q, k, v", "split", "merged for bmm", "weights", "joined", "out", "parameters"]
    rows = {name: list(row) for name, row in zip(names, zip(*columns, strict=True), strict=True)}
    return board([table("Shapes", rows, [*LAYERS])])


def deep(values: Mapping[str, Any]) -> Board:
    """The habits of all heads of a language model."""
    read = real.habits_of(values["sentence"])
    rows: dict[str, list[float | str | None]] = {
        each["name"]: [
            str(each["count"]),
            f"layer {each['layer']}, head {each['head']}",
            each["score"],
        ]
        for each in read["rows"]
    }
    rows["no habit above 0.4"] = [str(read["others"]), "", ""]
    most = read["rows"][0]
    clear = next((each for each in read["rows"] if each["name"] != "first"), most)
    return board(
        [
            table(
                "Heads of SmolLM2, by habit",
                rows,
                ["heads", "the clearest", "mean weight"],
                kind="weights",
                digits=2,
            )
        ],
        heads=read["heads"],
        name=most["name"],
        count=most["count"],
        others=read["others"],
        **about(real.MODEL, input=values["sentence"], layer=clear["layer"], head=clear["head"]),
    )


BOARDS = {"deep": deep, "eight": lambda _: _eight(), "shapes": lambda _: shapes()}
