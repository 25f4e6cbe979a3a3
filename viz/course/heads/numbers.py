"""A layer of several heads on four words, what their number costs, and the heads of MiniLM."""

from functools import lru_cache
from typing import Any

import torch

from analysis.habits import HABITS, habits
from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.seeding import seeded
from viz.course import real
from viz.course.boards import Board, board, panel, table
from viz.course.numbers import follow

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
        sentence: that MiniLM reads.
        layer: of MiniLM.
        query: the token of MiniLM that attends; the last one where there are fewer.
        key: the token that it attends to, likewise.
    """
    answer = {
        **_layer(int(heads), token, min(head, int(heads) - 1)),
        "trained": None,
    }
    if trained == "no":
        return answer
    labels, weights, names, scores = _read(sentence)
    answer["trained"] = {
        "tokens": labels,
        "weights": weights[layer],
        "names": names[layer],
        "scores": scores[layer],
        "layer": layer,
        "head": head,
    }
    return answer if trained == "yes" else answer | _cell(sentence, layer, head, query, key)


@lru_cache(maxsize=64)
def _layer(heads: int, token: int, head: int) -> dict[str, Any]:
    """Every number of one word on its way through the layer."""
    with seeded(SEED):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=heads)).eval()
    with seeded(SEED):
        x = LOUD * torch.randn(1, len(WORDS), DIM)
    with torch.no_grad():
        out, pattern = layer(x)
    parts = {"q": pattern.q, "k": pattern.k, "v": pattern.v}
    weights = pattern.weights(item=0)
    return {
        "words": WORDS,
        "token": token,
        "word": WORDS[token],
        "count": heads,
        "width": DIM // heads,
        "head": head,
        "x": x[0, token].tolist(),
        **{name: part[0, :, token].flatten().tolist() for name, part in parts.items()},
        "scores": pattern.scores(item=0).tolist(),
        "weights": weights.tolist(),
        "joined": (weights @ pattern.v[0])[:, token].flatten().tolist(),
        "out": out[0, token].tolist(),
    }


@lru_cache(maxsize=16)
def _read(sentence: str) -> tuple[list[str], list[Any], list[Any], list[Any]]:
    """Tokens of a sentence, MiniLM's weights, and the habit each head comes closest to."""
    count = len(real.encoded("minilm", sentence))
    real.check(count, FEWEST, MOST)
    read = real.traced("minilm", sentence)
    result = habits(read)
    weights = [_short(read.weights(site.layer).tolist()) for site in read.sites]
    return read.labels, weights, list(result.names), result.scores.amax(0).tolist()


def _short(numbers: Any) -> Any:
    """Nested lists of numbers, to four decimals."""
    return [*map(_short, numbers)] if isinstance(numbers, list) else round(numbers, 4)


@lru_cache(maxsize=256)
def _cell(sentence: str, layer: int, head: int, query: int, key: int) -> dict[str, Any]:
    """How one weight of MiniLM comes about, product by product."""
    read = real.traced("minilm", sentence)
    pattern, count = read.pattern(layer), len(read.labels)
    at, to = min(query, count - 1), min(key, count - 1)
    q, k = pattern.q[0, head, at], pattern.k[0, head, to]
    products = q * k
    place = {"layer": layer, "head": head, "token": at, "partner": to}
    return {
        "cell": {
            "query": at,
            "key": to,
            "asks": read.labels[at],
            "asked": read.labels[to],
            "q": q.tolist(),
            "k": k.tolist(),
            "products": products.tolist(),
            "width": len(products),
            "sum": products.sum().item(),
            "score": read.scores(layer)[head, at, to].item(),
            "weight": read.weights(layer, head)[at, to].item(),
            "of_map": count * count * len(products),
        },
        **real.about("minilm", form="head", input=sentence, **place),
    }


@lru_cache(maxsize=len(COUNTS))
def costs(heads: str) -> Board:
    """Parameters of the layer, and its work on the four words, by the number of heads."""
    count = len(WORDS)

    def row(heads: int) -> list[int]:
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=heads))
        parameters = sum(each.numel() for each in layer.parameters())
        return [parameters, 4 * count * DIM**2, 2 * count**2 * DIM, heads * count**2]

    rows = {each: row(each) for each in COUNTS}
    parameters, projections, products, exponentials = rows[int(heads)]
    cols = ["parameters", "projections", "q·k, weights·v", "exponentials"]
    names = {each: "1 head" if each == 1 else f"{each} heads" for each in COUNTS}
    names[int(heads)] = f"→ {names[int(heads)]}"
    named = {names[each]: [f"{n:,}" for n in numbers] for each, numbers in rows.items()}
    return board(
        [table("Multiplications and exponentials for four words", named, cols)],
        heads=int(heads),
        parameters=parameters,
        projections=projections,
        products=products,
        exponentials=exponentials,
        one=rows[1][-1],
    )


@lru_cache(maxsize=1)
def eight() -> Board:
    """Eight heads on the four words: Z₀ … Z₇, side by side, and mixed."""
    dim = 2 * EIGHT
    with seeded(SEED):
        config = MultiHeadAttentionConfig(dim=dim, heads=EIGHT, qkv_bias=False)
        layer, x = MultiHeadAttention(config).eval(), LOUD * torch.randn(1, len(WORDS), dim)
    with torch.no_grad():
        out, pattern = layer(x)
    each = [follow(pattern, head=head)["values"] for head in range(EIGHT)]
    panels = [
        panel(f"Z_{{{n}}}", z.tolist(), rows=WORDS if n % 4 == 0 else (), kind="signed")
        for n, z in enumerate(each)
    ]
    bare: dict[str, Any] = {"kind": "signed", "digits": -1}
    mixing = layer.get_parameter("out.weight").T.tolist()
    return board(
        panels[:4],
        panels[4:],
        [
            panel("Z_{0} … Z_{7}: 4 × 16", torch.cat(each, dim=1).tolist(), **bare),
            panel("W^{O}: 16 × 16", mixing, sign="·", **bare),
            panel("Z: 4 × 16", out[0].tolist(), sign="=", **bare),
        ],
    )


# layers that courses build: batch, tokens and width of the input, then the layer's
LAYERS: dict[str, tuple[tuple[int, int, int], dict[str, Any]]] = {
    "8 heads of 64 in 128": ((1, 257, 128), {"dim": 128, "heads": 8, "head_dim": 64}),
    "20 heads of 10 in 10": ((8, 5, 10), {"dim": 10, "heads": 20, "head_dim": 10}),
    "5 heads of 20, 5 to 100": ((16, 5, 5), {"dim": 100, "heads": 5, "input_dim": 5}),
}


def shapes() -> Board:
    """The shapes of three layers, step by step, and the parameters without biases."""
    columns = []
    for (batch, tokens, reads), fields in LAYERS.values():
        config = MultiHeadAttentionConfig(**fields, qkv_bias=False, out_bias=False)
        heads, width = config.heads, config.width
        sizes = {
            "x": (batch, tokens, reads),
            "q, k, v": (batch, tokens, heads * width),
            "split": (batch, heads, tokens, width),
            "merged for bmm": (batch * heads, tokens, width),
            "weights": (batch, heads, tokens, tokens),
            "joined": (batch, tokens, heads * width),
            "out": (batch, tokens, config.dim),
        }
        count = sum(each.numel() for each in MultiHeadAttention(config).parameters())
        column = {name: " × ".join(map(str, size)) for name, size in sizes.items()}
        columns.append({**column, "parameters": f"{count:,}"})
    rows = {name: [column[name] for column in columns] for name in columns[0]}
    return board([table("Shapes", rows, [*LAYERS])])


def deep(sentence: str) -> Board:
    """The habits of all heads of a language model."""
    read = habits_of(sentence)
    most, others = read["rows"][0], read["others"]
    clear = next((each for each in read["rows"] if each["name"] != "first"), most)
    rows = {}
    for each in read["rows"]:
        place = f"layer {each['layer']}, head {each['head']}"
        rows[each["name"]] = [str(each["count"]), place, each["score"]]
    rows["no habit above 0.4"] = [str(others), "", ""]
    cols = ["heads", "the clearest", "mean weight"]
    return board(
        [table("Heads of SmolLM2, by habit", rows, cols, kind="weights", digits=2)],
        heads=read["heads"],
        name=most["name"],
        count=most["count"],
        others=others,
        **real.about("smollm2", input=sentence, layer=clear["layer"], head=clear["head"]),
    )


@real.of("smollm2")
def habits_of(text: str) -> dict[str, Any]:
    """How many heads have each habit, and the head that shows it most."""
    trace = real.traced("smollm2", text)
    real.check(len(trace.labels), FEWEST, 40)
    read = habits(trace)
    names = [name for layer in read.names for name in layer]
    rows = []
    for scores, name in zip(read.scores, HABITS, strict=True):
        layer, head = divmod(int(scores.flatten().argmax()), scores.shape[1])
        if count := names.count(name):
            place = {"layer": layer, "head": head, "score": scores[layer, head].item()}
            rows.append({"name": name, "count": count, **place})
    rows.sort(key=lambda row: -row["count"])
    others = len(names) - sum(row["count"] for row in rows)
    return {"rows": rows, "heads": len(names), "others": others}


BOARDS = {"cost": costs, "deep": deep, "eight": eight, "shapes": shapes}
