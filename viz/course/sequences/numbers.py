"""The way from the first token to the last in three kinds of layer, its cost and its effect."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from viz.course.boards import Board, Panel, board, power, table
from viz.course.real import about
from viz.course.sequences import real


def numbers(tokens: int, kernel: str, width: int, gain: float, activation: str) -> dict[str, Any]:
    """Hops, costs and influence for a text of so many tokens.

    Args:
        tokens: length of the text.
        kernel: size of the convolution's window.
        width: of a token, for the costs.
        gain: of the recurrence.
        activation: of the recurrence, "tanh" or "none".
    """
    from models.lessons import reach

    size = int(kernel)
    hops = {kind: reach.hops(kind, tokens, size) for kind in reach.KINDS}
    costs = {kind: reach.cost(kind, tokens, width, size) for kind in reach.KINDS}
    return {
        "tokens": tokens,
        "kernel": size,
        "width": width,
        "gain": gain,
        "hops": hops,
        "count": {kind: len(path) - 1 for kind, path in hops.items()},
        "seen": _seen(tokens, size),
        "costs": {kind: {"work": one.work, "steps": one.steps} for kind, one in costs.items()},
        "influence": _influence(tokens, gain, activation),
        "kept": _kept(tokens, gain, activation),
        "tables": [_longer(), _table(width, size)],
    }


@lru_cache(maxsize=64)
def _seen(tokens: int, kernel: int) -> list[list[bool]]:
    """What the last output depends on in each layer of the convolution, from the input up."""
    from models.lessons import reach

    layers = len(reach.hops("convolution", tokens, kernel)) - 1
    return reach.receptive_fields(
        "convolution", tokens, tokens - 1, layers=layers, kernel=kernel
    ).tolist()


@lru_cache(maxsize=256)
def _influence(tokens: int, gain: float, activation: str) -> dict[str, Any]:
    """Of each token on the last output, and the first token's as a share of the last one's."""
    from models.lessons import sequences

    influences = {
        "recurrence": sequences.recurrent_influence(tokens, gain=gain, activation=activation),
        "attention": sequences.attention_influence(tokens),
    }
    return {
        kind: {"sizes": sizes.tolist(), "ratio": (sizes[0] / sizes[-1]).item()}
        for kind, sizes in influences.items()
    }


@lru_cache(maxsize=256)
def _kept(tokens: int, gain: float, activation: str) -> list[float]:
    """Influence of the first token on each state of the recurrence, as a share of the first."""
    from models.lessons import sequences

    read = (
        sequences.recurrent_influence(count, gain=gain, activation=activation)[0].item()
        for count in range(1, tokens + 1)
    )
    first, *later = read
    return [1.0, *(size / first for size in later)]


LONGER = (12, 32, 64)  # tokens
TEXTS = (32, 512, 2048)


@lru_cache(maxsize=1)
def _longer() -> Panel:
    """The first token's influence as a share of the last one's, over longer texts."""
    from models.lessons import sequences

    kinds = (("tanh", 0.5), ("tanh", 0.9), ("none", 0.9), ("none", 1.2))
    rows: dict[str, list[float | str | None]] = {}
    for activation, gain in kinds:
        name = f"g = {gain}, {'tanh' if activation == 'tanh' else 'no tanh'}"
        rows[name] = []
        for count in LONGER:
            sizes = sequences.recurrent_influence(count, gain=gain, activation=activation)
            rows[name].append(power((sizes[0] / sizes[-1]).item()))
    return table(
        "Influence of the first token : of the last", rows, [f"{n} tokens" for n in LONGER]
    )


def _table(width: int, kernel: int) -> Panel:
    """What one layer costs over longer texts."""
    from models.lessons import reach

    work = dict.fromkeys(reach.KINDS, "k · n · d²") | {
        "attention": "n² · d, without projections",
        "recurrence": "n · d²",
    }
    rows: dict[str, list[float | str | None]] = {
        f"{kind}: {work[kind]}": [f"{reach.cost(kind, n, width, kernel).work:,}" for n in TEXTS]
        for kind in reach.KINDS
    }
    rows["projections: 4 n · d²"] = [f"{4 * n * width**2:,}" for n in TEXTS]
    cols = [f"{n:,} tokens" for n in TEXTS]
    return table(f"Multiplications of one layer of width {width}", rows, cols)


NOUNS = (
    "The keys near the cabinet",
    "The keys near the old cabinet in the hall",
    "The keys near the old cabinet in the hall of the museum",
    "The key near the old cabinets in the halls of the museums",
)


def agree(values: Mapping[str, Any]) -> Board:
    """Both verbs after nouns at growing distances, and after the reader's text."""
    mine = values["sentence"]
    read = [real.agreement(text) for text in (*NOUNS, mine)]
    rows: dict[str, list[float | str | None]] = {}
    for number, each in enumerate(read):
        name = f"{each['noun']}, {each['distance']} back"
        rows[f"yours: {name}" if number == len(NOUNS) else name] = [
            *each["verbs"],
            f"{each['layer']} · {each['head']}",
            each["weight"],
        ]
    far, last = read[2], read[-1]
    return board(
        [
            table(
                "The next token, and the head that reads the noun most",
                rows,
                ["are", "is", "layer · head", "weight"],
                kind="weights",
                digits=3,
            )
        ],
        distance=far["distance"],
        ratio=far["verbs"][0] / far["verbs"][1],
        weight=far["weight"],
        **about(
            real.MODEL,
            input=mine,
            layer=last["layer"],
            head=last["head"],
        ),
    )


BOARDS = {"agree": agree}
