"""Every kind of attention that `attend` knows, beside its rule for one cell.

Sizes are small and distinct, so that no axis can be taken for another.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor

from models.attention import Additive, Bilinear, Dot, Edge, Mask
from models.edits import Temperature
from tests.models.reference import Answer, Slow, dot, scaled_dot

BATCH, HEADS, QUERIES, KEYS, DIM, VALUE_DIM, KEY_DIM = 2, 6, 5, 11, 7, 13, 3
KV_HEADS = (6, 2)  # one each, or one for three


@dataclass(frozen=True)
class Case:
    """What is passed to `attend`, what that means, and how it is to be computed."""

    name: str
    slow: Slow
    path: Literal["fused", "explicit"] = "fused"
    call: Mapping[str, Any] = field(default_factory=dict)
    key_dim: int = DIM
    value_dim: int = DIM


def inputs(case: Case, kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of a case, the same every time."""
    dice = torch.Generator().manual_seed(kv_heads)
    return (
        torch.randn(BATCH, HEADS, QUERIES, DIM, generator=dice),
        torch.randn(BATCH, kv_heads, KEYS, case.key_dim, generator=dice),
        torch.randn(BATCH, kv_heads, KEYS, case.value_dim, generator=dice),
    )


@cache
def answer(name: str, kv_heads: int) -> Answer:
    """The slow answer to a case."""
    case = CASES[name]
    return case.slow(*inputs(case, kv_heads))


_dice = torch.Generator().manual_seed(97)


def _noise(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=_dice)


PADDING = torch.zeros(BATCH, KEYS, dtype=torch.bool)
PADDING[0, 8:] = True
PADDING[1, [0, 4]] = True  # in front too: the first causal row is left with no key
SEGMENTS = torch.tensor([[0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 1], [3, 3, 3, 3, 0, 0, 0, 3, 3, 3, 1]])
DENSE = torch.rand(BATCH, HEADS, QUERIES, KEYS, generator=_dice) > 0.4
DENSE[1, 2, 3] = False  # a row with no key
BIAS = _noise(BATCH, HEADS, QUERIES, KEYS)
CLOSED = BIAS.clone()
CLOSED[:, 1, 2] = -torch.inf  # a row with no key, by way of the bias
CLOSED[:, :, 0, 3] = -torch.inf
SINK = _noise(HEADS)
TABLE = _noise(HEADS, QUERIES, KEYS)
ONE_MATRIX, MATRICES = _noise(DIM, KEY_DIM), _noise(HEADS, DIM, KEY_DIM)
ADDITIVE = Additive(_noise(17, DIM), _noise(17, KEY_DIM), _noise(17))
HOT = (1, 4)
EDGES = (Edge(HOT, (0, 2), None), Edge(None, (3,), (2, 7)), Edge((5,), None, (0,)))


def _not_padding(b: int, h: int, i: int, j: int) -> bool:
    return not PADDING[b, j]


def _not_cut(b: int, h: int, i: int, j: int) -> bool:
    return not ((h in HOT and i in (0, 2)) or (i == 3 and j in (2, 7)) or (h == 5 and j == 0))


def _dense(table: Tensor) -> Slow:
    whole = table.expand(BATCH, HEADS, QUERIES, KEYS)
    return Slow(sees=lambda *cell: bool(whole[cell]))


def _bias(table: Tensor) -> Slow:
    whole = table.expand(BATCH, HEADS, QUERIES, KEYS)
    return Slow(added=lambda *cell: float(whole[cell]))


def _table_rows(rows: Tensor) -> Tensor:
    return TABLE[:, rows]


def _capped(q: list[float], k: list[float], head: int) -> float:
    return 1.7 * math.tanh(scaled_dot(q, k, head) / 1.7)


def _bilinear(q: list[float], k: list[float], head: int, *, matrices: Tensor) -> float:
    matrix = matrices.expand(HEADS, DIM, KEY_DIM)[head].tolist()
    return sum(a * dot(row, k) for a, row in zip(q, matrix, strict=True))


def _additive(q: list[float], k: list[float], head: int) -> float:
    assert ADDITIVE.query is not None
    assert ADDITIVE.key is not None
    units = zip(ADDITIVE.query.tolist(), ADDITIVE.key.tolist(), strict=True)
    hidden = [math.tanh(dot(from_q, q) + dot(from_k, k)) for from_q, from_k in units]
    return dot(ADDITIVE.vector.tolist(), hidden)


def _sharper(head: int) -> float:
    return 0.3 if head in HOT else 1.0


def _hot(**more: Any) -> dict[str, Any]:
    return {"edit": Temperature(0.3, head=HOT), **more}


def _all() -> list[Case]:
    """The cases, simplest first."""
    tables = [DENSE, DENSE[:1], DENSE[:, :1], DENSE[:1, :1]]
    biases = [BIAS, BIAS[:1], BIAS[:, :, :1], BIAS[:, :1], BIAS[:, :1, :1], BIAS[..., :1], CLOSED]
    return [
        Case("plain", Slow()),
        Case("scale", Slow(score=lambda q, k, h: 0.9 * dot(q, k)), call={"score": Dot(scale=0.9)}),
        Case("value width", Slow(), "explicit", value_dim=VALUE_DIM),
        *_masks(),
        *(Case(f"dense {tuple(t.shape)}", _dense(t), call={"mask": Mask(dense=t)}) for t in tables),
        *(Case(f"bias {n}", _bias(t), call={"bias": t}) for n, t in enumerate(biases)),
        Case(
            "bias rows",
            Slow(added=lambda b, h, i, j: float(TABLE[h, i, j])),
            call={"bias": _table_rows},
        ),
        Case(
            "bias rows, padding",
            Slow(sees=_not_padding, added=lambda b, h, i, j: float(TABLE[h, i, j])),
            call={"bias": _table_rows, "mask": Mask(padding=PADDING)},
        ),
        *_scores(),
        *_temperatures(),
    ]


def _masks() -> list[Case]:
    rules = [
        ("causal", Mask(causal=True), lambda b, h, i, j: j <= i),
        ("causal, offset", Mask(causal=True, offset=3), lambda b, h, i, j: j <= i + 3),
        ("window", Mask(window=3), lambda b, h, i, j: abs(i - j) < 3),
        (
            "window, causal, offset",
            Mask(window=3, causal=True, offset=4),
            lambda b, h, i, j: 0 <= i + 4 - j < 3,
        ),
        ("padding", Mask(padding=PADDING), _not_padding),
        (
            "padding, causal",
            Mask(padding=PADDING, causal=True),
            lambda b, h, i, j: j <= i and _not_padding(b, h, i, j),
        ),
        ("segments", Mask(segments=SEGMENTS), lambda b, h, i, j: SEGMENTS[b, i] == SEGMENTS[b, j]),
        (
            "segments, offset",
            Mask(segments=SEGMENTS, offset=6),
            lambda b, h, i, j: SEGMENTS[b, i + 6] == SEGMENTS[b, j],
        ),
        ("cut", Mask(cut=EDGES), _not_cut),
        (
            "everything",
            Mask(True, PADDING, 7, SEGMENTS, DENSE, EDGES, 6),
            lambda b, h, i, j: bool(
                0 <= i + 6 - j < 7
                and _not_padding(b, h, i, j)
                and SEGMENTS[b, i + 6] == SEGMENTS[b, j]
                and DENSE[b, h, i, j]
                and _not_cut(b, h, i, j)
            ),
        ),
    ]
    return [Case(name, Slow(sees=sees), call={"mask": mask}) for name, mask, sees in rules]


def _scores() -> list[Case]:
    padded = {"mask": Mask(padding=PADDING)}
    sink = Slow(sink=lambda h: float(SINK[h]))
    return [
        Case("cap", Slow(score=_capped), "explicit", {"score": Dot(softcap=1.7)}),
        Case("sink", sink, "explicit", {"score": Dot(sink=SINK)}),
        Case(
            "cap, sink, padding, causal",
            Slow(
                sees=lambda b, h, i, j: j <= i and _not_padding(b, h, i, j),
                score=_capped,
                sink=lambda h: float(SINK[h]),
            ),
            "explicit",
            {"score": Dot(softcap=1.7, sink=SINK), "mask": Mask(causal=True, padding=PADDING)},
        ),
        Case(
            "bilinear",
            Slow(score=lambda *a: _bilinear(*a, matrices=ONE_MATRIX)),
            "explicit",
            {"score": Bilinear(ONE_MATRIX)},
            key_dim=KEY_DIM,
        ),
        Case(
            "bilinear per head, padding",
            Slow(sees=_not_padding, score=lambda *a: _bilinear(*a, matrices=MATRICES)),
            "explicit",
            {"score": Bilinear(MATRICES), **padded},
            key_dim=KEY_DIM,
            value_dim=VALUE_DIM,
        ),
        Case("additive", Slow(score=_additive), "explicit", {"score": ADDITIVE}, key_dim=KEY_DIM),
        Case(
            "additive, padding",
            Slow(sees=_not_padding, score=_additive),
            "explicit",
            {"score": ADDITIVE, **padded},
            key_dim=KEY_DIM,
            value_dim=VALUE_DIM,
        ),
    ]


def _temperatures() -> list[Case]:
    causal = Slow(sees=lambda b, h, i, j: j <= i, temperature=_sharper)
    return [
        Case("temperature", Slow(temperature=_sharper), call=_hot()),
        Case("temperature, causal", causal, call=_hot(mask=Mask(causal=True))),
        Case(
            "temperature, padding",
            Slow(sees=_not_padding, temperature=_sharper),
            call=_hot(mask=Mask(padding=PADDING)),
        ),
        Case(
            "temperature, bias, padding",
            Slow(
                sees=_not_padding,
                added=lambda b, h, i, j: float(BIAS[b, 0, i, j]),
                temperature=_sharper,
            ),
            call=_hot(bias=BIAS[:, :1], mask=Mask(padding=PADDING)),
        ),
        Case(
            "temperature, cap",
            Slow(score=_capped, temperature=_sharper),
            "explicit",
            _hot(score=Dot(softcap=1.7)),
        ),
    ]


CASES = {case.name: case for case in _all()}
