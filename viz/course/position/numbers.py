"""Positions: words in two orders, the sinusoidal table as clock hands, rotary and ALiBi."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from viz.course.boards import Board, board, panel, power, table
from viz.course.position import real
from viz.course.real import about

WORDS, ORDER = ("dog", "bites", "man"), (2, 1, 0)
FEATURES = 6  # features of a word's vector
COUNT, DIM = 20, 16  # positions and features of the table
SHIFT = 5  # by which both positions are moved
WIDTH, HEADS = 8, 8  # of a rotary head; with ALiBi
TOKENS, NARROW = ("je", "suis", "étudiant"), 4  # words that positions of this width are added to
SEED = 2


def numbers(
    position: int,
    other: int,
    added: str,
    mask: str,
    far: int,
    first: int,
    embeddings: list[float],
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
    return {
        "position": position,
        "other": other,
        "offset": other - position,
        "distance": abs(other - position),
        "order": _order(added, mask),
        **_table(position, other, far),
        "rotary": _rotary(position, other),
        "alibi": _alibi(position),
        "small": _small(first, embeddings),
    }


def _small(first: int, embeddings: list[float]) -> dict[str, Any]:
    """Embeddings of a few tokens, their positions, and the sums."""
    import torch

    from models.positional import rotary_angles, sinusoidal

    x = torch.tensor(embeddings).view(len(TOKENS), NARROW)
    rows = sinusoidal(first + len(TOKENS), NARROW)[first:]
    return {
        "tokens": TOKENS,
        "first": first,
        "last": first + len(TOKENS) - 1,
        "rates": rotary_angles(2, NARROW)[1].tolist(),
        "embeddings": x.tolist(),
        "positions": rows.tolist(),
        "sums": (x + rows).tolist(),
    }


@lru_cache(maxsize=4)
def _order(added: str, mask: str) -> dict[str, Any]:
    from models.lessons.order import permuted

    outcome = permuted(WORDS, ORDER, positions=added == "yes", causal=mask == "causal")
    return {
        "words": WORDS,
        "turned": [WORDS[place] for place in ORDER],
        "before": outcome.before[:, :FEATURES].tolist(),
        "after": outcome.after[:, :FEATURES].tolist(),
        "moved": outcome.moved.tolist(),
        "largest": outcome.moved.max().item(),
    }


def _table(position: int, other: int, far: int) -> dict[str, Any]:
    """Rows of the sinusoidal table, and dot products of them."""
    from models.positional import rotary_angles, sinusoidal

    table = sinusoidal(max(COUNT + SHIFT, far + 1), DIM)
    here, there = table[position], table[other]
    return {
        "table": table[:COUNT].tolist(),
        "rates": rotary_angles(2, DIM)[1].tolist(),
        "row": here.tolist(),
        "other_row": there.tolist(),
        "far": far,
        "far_row": table[far].tolist(),
        "dot": (here @ there).item(),
        "moved_dot": (table[position + SHIFT] @ table[other + SHIFT]).item(),
        "dots": (table[:COUNT] @ table[0]).tolist(),
        "length": here.norm().item(),
    }


def _rotary(position: int, other: int) -> dict[str, Any]:
    """A query and a key, turned by their positions, and their dot products."""
    import torch

    from models.attention.relative import rotary_angles, rotate
    from models.seeding import seeded

    with seeded(SEED):
        q, k = torch.randn(2, WIDTH)

    def turned(vector: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        angles = rotary_angles(places, WIDTH)
        return rotate(vector.expand(1, 1, len(places), WIDTH), angles)[0, 0]

    offsets = torch.arange(1 - COUNT, COUNT)
    scores = turned(k, offsets) @ turned(q, torch.tensor([0]))[0]
    places = torch.tensor([position, position + SHIFT])
    queries, keys = turned(q, places), turned(k, places + other - position)
    pairs = WIDTH // 2
    return {
        "q": queries[0].reshape(2, pairs).T.tolist(),
        "k": keys[0].reshape(2, pairs).T.tolist(),
        "rates": rotary_angles(2, WIDTH)[1].tolist(),
        "score": (queries[0] @ keys[0]).item(),
        "moved_score": (queries[1] @ keys[1]).item(),
        "offsets": offsets.tolist(),
        "scores": scores.tolist(),
        "length": q.norm().item(),
        "key_length": k.norm().item(),
    }


def _alibi(position: int) -> dict[str, Any]:
    """The penalties of every head for a query, and its weights where all scores are equal."""
    import torch

    from models.attention.relative import alibi, alibi_slopes

    bias = alibi(HEADS, torch.tensor([position]), COUNT)[:, 0, : position + 1]
    hidden = [None] * (COUNT - position - 1)  # keys after the query
    weights = bias.softmax(-1)
    return {
        "slopes": alibi_slopes(HEADS).tolist(),
        "bias": [[*row, *hidden] for row in bias.tolist()],
        "weights": [[*row, *hidden] for row in weights.tolist()],
        "nearest": weights[0, -1].item(),
        "widest": weights[-1, -1].item(),
        "farthest": bias[0, 0].item(),
    }


LONG, WIDE, ENDS = 60, 32, 3  # the table that a course has printed, and how much of its ends


def sixty() -> Board:
    """The corners of a table of 60 positions and 32 features, as PyTorch prints them."""
    from models.positional import sinusoidal

    ends = {size: [*range(ENDS), *range(size - ENDS, size)] for size in (LONG, WIDE)}
    corners = sinusoidal(LONG, WIDE)[ends[LONG]][:, ends[WIDE]].tolist()
    rows = {
        f"position {at}": [f"{value:.4e}".replace("-", "−") for value in row]
        for at, row in zip(ends[LONG], corners, strict=True)
    }
    return board([table("P: 60 positions × 32 features", rows, [f"{n}" for n in ends[WIDE]])])


def misprint() -> Board:
    """What a misprinted exponent of the cosine does to the table."""
    from analysis.similarity import by_distance
    from models.attention.relative import distances
    from models.lessons import order

    names = ("2j/d, right", "(2j+1)/d", "2j + 1/d")
    rows: dict[str, list[float | str | None]] = {}
    spread: dict[str, float] = {}
    for name, slip in zip(names, order.SLIPS, strict=True):
        wrong = order.misread(LONG, WIDE, slip)
        circle = order.circle(wrong)
        apart = by_distance(wrong @ wrong.T, distances(LONG, LONG).abs().float())
        spread[name] = (apart.high - apart.low).max().item()
        least, most = circle.min().item(), circle.max().item()
        rows[name] = [wrong[1, 1].item(), f"{least:.3f} to {most:.3f}", spread[name]]
    cols = ["P_{1,1}", "sin² + cos²", "spread at one distance"]
    return board([table("The cosine's exponent", rows, cols)], spread=spread[names[1]])


COMPARED = 24  # positions


@lru_cache(maxsize=1)
def _learned() -> Board:
    """Cosine of every two positions: learned by MiniLM, and fixed."""
    from analysis.similarity import cosine
    from models.positional import sinusoidal
    from viz.course.trained import network

    table_ = network("minilm").network.get_parameter("positions.table").detach()
    count, dim = table_.shape
    learned, fixed = cosine(table_[:COMPARED]), cosine(sinusoidal(COMPARED, dim))
    bare: dict[str, Any] = {"kind": "signed", "digits": -1}
    return board(
        [
            panel(f"MiniLM: {learned.min():.2f} to 1", learned.tolist(), **bare),
            panel(f"fixed table: {fixed.min():.2f} to 1", fixed.tolist(), **bare),
        ],
        count=count,
        dim=dim,
        parameters=table_.numel(),
        learned=learned[20, 21].item(),
        fixed=fixed[20, 21].item(),
    )


PAIRS = (0, 4, 8, 16, 24, 31)  # pairs whose speed is written


def _speed(rate: float) -> str:
    return power(rate) if rate < 0.001 else f"{rate:.2g}"


def real_speeds(values: Mapping[str, Any]) -> Board:
    """The rotary speeds of a language model, and the bands of them that three heads use."""
    from math import tau

    read = real.speeds(values["sentence"])
    rates = read["rates"]
    clocks: dict[str, list[float | str | None]] = {
        f"pair {pair}": [_speed(rates[pair]), f"{tau / rates[pair]:,.0f}"] for pair in PAIRS
    }
    names = ("the token before", "itself", "induction")
    uses: dict[str, list[float | str | None]] = {
        f"{layer} · {head}, {name}": list(shares)
        for (layer, head), name, shares in zip(real.HEADS, names, read["shares"], strict=True)
    }
    bands = [f"{low} to {high - 1}" for low, high in real.BANDS]
    before, *_, induction = read["shares"]
    layer, head = real.HEADS[0]
    return board(
        [table("Speeds", clocks, ["radians a token", "tokens a turn"])],
        [table("Share of q·k by pairs", uses, bands, kind="weights", digits=2)],
        fast=before[0],
        slow=induction[-1],
        induction=induction[0],
        longest=tau / rates[-1],
        **about(real.MODEL, input=values["sentence"], layer=layer, head=head),
    )


BOARDS = {
    "speeds": real_speeds,
    "sixty": lambda _: sixty(),
    "misprint": lambda _: misprint(),
    "learned": lambda _: _learned(),
}
