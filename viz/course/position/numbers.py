"""Positions: words in two orders, the sinusoidal table as clock hands, rotary and ALiBi."""

from collections.abc import Sequence
from functools import cache
from math import tau
from typing import Any

import torch
from torch import Tensor

from analysis.vision import cosine
from models.attention import Mask, MultiHeadAttention, MultiHeadAttentionConfig
from models.attention.relative import alibi, alibi_slopes, rotary_angles, rotate
from models.positional import sinusoidal
from models.seeding import seeded
from viz.course import real
from viz.course.boards import Board, board, panel, power, signed, table

WORDS, ORDER = ("dog", "bites", "man"), (2, 1, 0)
FEATURES = 6  # features of a word's vector that are shown, of LAYER
LAYER = 16  # width of the layer whose words are permuted
COUNT, DIM = 20, 16  # positions and features of the table
SHIFT = 5  # by which both positions are moved
WIDTH, HEADS = 8, 8  # of a rotary head; with ALiBi
TOKENS, NARROW = ("je", "suis", "étudiant"), 4  # words that positions of this width are added to


def numbers(
    position: int, other: int, added: str, mask: str, far: int, first: int, embeddings: list[float]
) -> dict[str, Any]:
    """The numbers of every step.

    Args:
        position: that is followed; of the query.
        other: the one it is compared with; of the key.
        added: whether positions are added to the words in two orders.
        mask: of the attention to these words.
        far: a position beyond the table.
        first: the position of the first of `TOKENS`.
        embeddings: of `TOKENS`, row by row.
    """
    x = torch.tensor(embeddings).view(len(TOKENS), NARROW)
    rows = sinusoidal(first + len(TOKENS), NARROW)[first:]
    before, after = permuted(WORDS, ORDER, positions=added == "yes", causal=mask == "causal")
    moved = (before - after).norm(dim=-1)
    return {
        "distance": abs(other - position),
        "order": {
            "words": WORDS,
            "turned": [WORDS[place] for place in ORDER],
            "before": before[:, :FEATURES],
            "after": after[:, :FEATURES],
            "moved": moved,
            "largest": moved.max(),
        },
        **_table(position, other, far),
        "rotary": _rotary(position, other),
        "small": {
            "tokens": TOKENS,
            "first": first,
            "last": first + len(TOKENS) - 1,
            "rates": rotary_angles(2, NARROW)[1],
            "embeddings": x,
            "positions": rows,
            "sums": x + rows,
        },
    }


def permuted(
    words: Sequence[str], order: Sequence[int], *, positions: bool, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Self-attention of one untrained layer over words in two orders.

    attention(P x) = P attention(x) for any permutation P of the tokens, so permuting the words of a
    sentence only permutes the output vectors. Positions break this symmetry, and so does a causal
    mask.

    Args:
        words: each distinct word gets a random vector.
        order: the permutation: index of the word that comes first, second, …
        positions: whether sinusoidal positions are added.
        causal: whether each word sees only itself and the words before it.

    Returns:
        The outputs "word dim" for the original order and for the other, each in the original order.
    """
    with seeded(0):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=LAYER, heads=2)).eval()
        vectors = dict(zip(dict.fromkeys(words), torch.randn(len({*words}), LAYER), strict=True))
    x = torch.stack([vectors[word] for word in words])
    encoding = sinusoidal(len(words), LAYER) if positions else torch.zeros_like(x)
    mask, back = Mask(causal=causal), torch.tensor(order).argsort()
    with torch.no_grad():
        before, _ = layer((x + encoding)[None], mask=mask)
        after, _ = layer((x[list(order)] + encoding)[None], mask=mask)
    return before[0], after[0][back]


def _table(position: int, other: int, far: int) -> dict[str, Any]:
    """Rows of the sinusoidal table, and dot products of them."""
    table = sinusoidal(max(COUNT + SHIFT, far + 1), DIM)
    return {
        "table": table[:COUNT],
        "rates": rotary_angles(2, DIM)[1],
        "row": table[position],
        "other_row": table[other],
        "far_row": table[far],
        "dot": table[position] @ table[other],
        "moved_dot": table[position + SHIFT] @ table[other + SHIFT],
        "dots": table[:COUNT] @ table[0],
        "length": table[position].norm(),
    }


def _rotary(position: int, other: int) -> dict[str, Any]:
    """A query and a key, turned by their positions, and their dot products."""
    with seeded(2):
        q, k = torch.randn(2, WIDTH)

    def turned(vector: Tensor, places: Tensor) -> Tensor:
        angles = rotary_angles(places, WIDTH)
        return rotate(vector.expand(1, 1, len(places), WIDTH), angles)[0, 0]

    offsets, places = torch.arange(1 - COUNT, COUNT), torch.tensor([position, position + SHIFT])
    queries, keys = turned(q, places), turned(k, places + other - position)
    return {
        "q": queries[0].reshape(2, -1).T,
        "k": keys[0].reshape(2, -1).T,
        "rates": rotary_angles(2, WIDTH)[1],
        "score": queries[0] @ keys[0],
        "moved_score": queries[1] @ keys[1],
        "offsets": offsets,
        "scores": turned(k, offsets) @ q,
    }


def penalties(position: int) -> Board:
    """The penalties of every head for a query, and its weights where all scores are equal."""
    bias = alibi(HEADS, torch.tensor([position]), COUNT)[:, 0, : position + 1]
    weights, slopes = bias.softmax(-1), alibi_slopes(HEADS)
    look = {"rows": [f"1/{1 / slope:.0f}" for slope in slopes], "digits": -1}
    cols = [*map(str, range(position + 1))]
    return board(
        [signed("bias: −slope · distance, by head and key", bias, cols=cols, **look)],
        [panel("weights, where all scores are equal", weights, cols=cols, kind="weights", **look)],
        nearest=weights[0, -1],
        widest=weights[-1, -1],
    )


LONG, WIDE, ENDS = 60, 32, 3  # the table that a course has printed, and how much of its ends


def sixty() -> Board:
    """The corners of a table of 60 positions and 32 features, as PyTorch prints them."""
    ends = {size: [*range(ENDS), *range(size - ENDS, size)] for size in (LONG, WIDE)}
    corners = sinusoidal(LONG, WIDE)[ends[LONG]][:, ends[WIDE]].tolist()
    rows = {
        f"position {at}": [f"{value:.4e}".replace("-", "−") for value in row]
        for at, row in zip(ends[LONG], corners, strict=True)
    }
    return board([table("P: 60 positions × 32 features", rows, [f"{n}" for n in ends[WIDE]])])


SLIPS = ("2j/d, right", "(2j+1)/d", "2j + 1/d")


def misread(slip: str) -> Tensor:
    """The sinusoidal table "position dim", or what a common misprint of its cosine gives.

        P[p, 2j] = sin(p / 10000^(2j/d))   and, misprinted,   P[p, 2j+1] = cos(p / 10000^(2j+1/d))

    Read literally, the exponent is 2j + 1/d; read charitably, (2j+1)/d. In both cases sine and
    cosine of a pair have different frequencies and no longer describe a point on a circle.
    """
    table = sinusoidal(LONG, WIDE)
    position = torch.arange(LONG, dtype=torch.float64)[:, None]
    pair = torch.arange(0, WIDE, 2, dtype=torch.float64)
    if slip != SLIPS[0]:
        exponent = (pair + 1) / WIDE if slip == SLIPS[1] else pair + 1 / WIDE
        table[:, 1::2] = (position / 10_000**exponent).cos().float()
    return table


def misprint() -> Board:
    """What a misprinted exponent of the cosine does to the table."""
    rows = {}
    for slip in SLIPS:
        wrong = misread(slip)
        circle = wrong[:, 0::2].square() + wrong[:, 1::2].square()  # 1 where frequencies are equal
        diagonals = [(wrong @ wrong.T).diagonal(offset) for offset in range(LONG)]
        spread = max(each.max() - each.min() for each in diagonals)
        rows[slip] = [wrong[1, 1], f"{circle.min():.3f} to {circle.max():.3f}", spread]
    cols = ["P_{1,1}", "sin² + cos²", "spread at one distance"]
    return board([table("The cosine's exponent", rows, cols)], spread=rows[SLIPS[1]][-1])


COMPARED = 24  # positions


@cache
def learned() -> Board:
    """Cosine of every two positions: learned by MiniLM, and fixed."""
    positions = real.opened("minilm").network.get_parameter("positions.table").detach()
    count, dim = positions.shape
    alike, fixed = cosine(positions[:COMPARED]), cosine(sinusoidal(COMPARED, dim))
    return board(
        [
            signed(f"MiniLM: {alike.min():.2f} to 1", alike, digits=-1),
            signed(f"fixed table: {fixed.min():.2f} to 1", fixed, digits=-1),
        ],
        count=count,
        dim=dim,
        parameters=positions.numel(),
        learned=alike[20, 21],
        fixed=fixed[20, 21],
    )


PAIRS = (0, 4, 8, 16, 24, 31)  # pairs whose speed is written
USES = {(16, 0): "the token before", (11, 6): "itself", (18, 6): "induction"}  # of SmolLM2's heads
BANDS = ((0, 4), (4, 8), (8, 16), (16, 24), (24, 32))  # pairs, the fastest first
MOST = 40  # tokens


def real_speeds(sentence: str) -> Board:
    """The rotary speeds of a language model, and the bands of them that three heads use."""
    rates, shares, _ = speeds(sentence).values()
    clocks = {}
    for pair in PAIRS:
        rate = rates[pair]
        speed = power(rate) if rate < 0.001 else f"{rate:.2g}"
        clocks[f"pair {pair}"] = [speed, f"{tau / rate:,.0f}"]
    names = [f"{layer} · {head}, {name}" for (layer, head), name in USES.items()]
    bands = [f"{low} to {high - 1}" for low, high in BANDS]
    layer, head = next(iter(USES))
    return board(
        [table("Speeds", clocks, ["radians a token", "tokens a turn"])],
        [panel("Share of q·k by pairs", shares, rows=names, cols=bands, kind="weights")],
        fast=shares[0][0],
        slow=shares[-1][-1],
        induction=shares[-1][0],
        longest=tau / rates[-1],
        **real.about("smollm2", input=sentence, layer=layer, head=head),
    )


@real.of("smollm2")
def speeds(text: str) -> dict[str, Any]:
    """Speeds of the pairs of a head, and how much of q·k each band of pairs can contribute.

    A pair's part of q·k is at most the product of the lengths of its two parts; turning them
    changes neither.
    """
    real.encoded("smollm2", text, 2, MOST)
    trace, config = real.traced("smollm2", text), real.opened("smollm2").network.config
    rates = rotary_angles(2, config.attention.width, base=config.rotary_base)[1]
    shares = []
    for layer, head in USES:
        pattern = trace.pattern(layer)
        q, k = pattern.q[0, head], pattern.k[0, head * pattern.k.shape[1] // pattern.heads]
        lengths = [x.unflatten(-1, (2, -1)).norm(dim=-2).mean(0) for x in (q, k)]
        most = lengths[0] * lengths[1]
        shares.append([most[a:b].sum() / most.sum() for a, b in BANDS])
    return {"rates": rates, "shares": shares, "base": config.rotary_base}


BOARDS = {
    "alibi": penalties,
    "speeds": real_speeds,
    "sixty": sixty,
    "misprint": misprint,
    "learned": learned,
}
