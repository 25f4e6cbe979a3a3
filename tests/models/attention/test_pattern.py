"""Any part of a pattern is that part of the whole; gradients, empty rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from models.attention import Dot, Edge, Mask, attend
from models.attention.pattern import Pattern, Rows
from models.edits import Temperature
from tests.models.cases import (
    BATCH,
    BIAS,
    CASES,
    CLOSED,
    DENSE,
    HEADS,
    KEYS,
    PADDING,
    QUERIES,
    SINK,
    answer,
    inputs,
)
from tests.models.devices import DEVICES

ROUNDING = 1e-6  # weights are at most 1; other shapes multiply in another order

ROWS: list[Rows] = [
    None,
    slice(1, 4),
    slice(None, None, 2),
    slice(4, 2),
    [3],
    [4, 0, 0],
    [],
    (1, 2),
    range(2, 5),
    torch.tensor([2, 0]),
]


def pattern_of(name: str, kv_heads: int = 2) -> Pattern:
    case = CASES[name]
    return attend(*inputs(case, kv_heads), **case.call)[1]


def picked(rows: Rows) -> list[int]:
    """The positions that Python itself would pick."""
    everyone = list(range(QUERIES))
    if rows is None:
        return everyone
    if isinstance(rows, slice):
        return everyone[rows]
    return [everyone[int(row)] for row in rows]


@pytest.mark.parametrize("name", CASES)
def test_every_part_equals_the_whole(name: str) -> None:
    pattern, whole = pattern_of(name), answer(name, 2).weights
    for rows in ROWS:
        some = whole[:, :, picked(rows)]
        assert _close(pattern.weights(rows=rows), some)
        assert _close(pattern.weights(4, rows), some[:, 4])
        assert _close(pattern.weights(3, rows, item=1), some[1, 3])
        assert _close(pattern.weights(rows=rows, item=0), some[0])


def _close(found: Tensor, expected: Tensor) -> bool:
    assert found.shape == expected.shape
    return torch.allclose(found.double(), expected, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(("of_keys", "of_values"), [(4, 4), (5, 5), (12, 12)])
def test_heads_that_do_not_fit(of_keys: int, of_values: int) -> None:
    q, k, v = (torch.zeros(1, heads, 3, 5) for heads in (HEADS, of_keys, of_values))
    message = f"heads that divide 6 query heads, received {of_keys} and {of_values}"
    with pytest.raises(ValueError, match=message):
        Pattern(q, k, v)


def test_edits_of_weights_come_one_after_another() -> None:
    class Add:
        def __init__(self, step: float) -> None:
            self.step = step

        def edit_weights(
            self, weights: Tensor, heads: Sequence[int], rows: Tensor, pattern: Any, item: int
        ) -> Tensor:
            return (weights + self.step) * torch.tensor(list(heads))[:, None, None]

    plain = pattern_of("plain")
    edited = replace(plain, weights_edits=(Add(0.5), Add(2.0)))
    heads = torch.arange(HEADS)[:, None, None]
    expected = ((plain.weights() + 0.5) * heads + 2.0) * heads
    assert (edited.weights() - expected).abs().max() < 1e-4  # numbers up to 47
    assert (edited.weights(4, [3], item=1) - expected[1, 4, [3]]).abs().max() < 1e-4


@pytest.mark.parametrize("name", ["plain", "everything", "cap, sink, padding, causal"])
def test_one_head_and_item_of_scores(name: str) -> None:
    pattern, whole = pattern_of(name), answer(name, 2).scores
    for head in range(HEADS):
        for item in range(BATCH):
            assert _close(pattern.scores(head, [2, 4], item=item), whole[item, head, [2, 4]])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda p: p.weights(6), "head: expected 0 to 5, received 6"),
        (lambda p: p.weights(-1), "head: expected 0 to 5, received -1"),
        (lambda p: p.scores(item=2), "item: expected 0 to 1, received 2"),
        (lambda p: p.weights(rows=[0, 5]), r"rows: expected positions 0 to 4, received \[0, 5\]"),
        (lambda p: p.weights(rows=[-1]), r"rows: expected positions 0 to 4, received \[-1\]"),
        (lambda p: p.weights(rows=torch.tensor([True, False])), "rows: expected positions 0 to 4"),
        (lambda p: p.gradient(0), "no gradient recorded"),
    ],
)
def test_questions_out_of_range(ask: object, message: str) -> None:
    assert callable(ask)
    with pytest.raises(ValueError, match=message):
        ask(pattern_of("plain"))


def test_the_sink_of_a_head() -> None:
    """Divided by the temperature, as the scores are."""
    q, k, v = inputs(CASES["sink"], 2)
    score, hot = Dot(sink=SINK), Temperature(0.25, head=(1,))
    plain, sharp = attend(q, k, v, score=score)[1], attend(q, k, v, score=score, edit=hot)[1]
    for head in range(HEADS):
        assert plain.sink(head) == float(SINK[head])
        assert sharp.sink(head) == float(SINK[head]) * (4 if head == 1 else 1)
        assert pattern_of("plain").sink(head) is None


# --- rows with no key -------------------------------------------------------------------------

EMPTY = [
    ("padding, causal", HEADS),  # item 1: key 0 is padding, and row 0 sees nothing else
    ("dense (2, 6, 5, 11)", 1),
    ("cut", BATCH * 2 * 2),  # two heads, two rows
    ("plain", 0),
    ("causal", 0),
    ("window", 0),
]


@pytest.mark.parametrize(("name", "count"), EMPTY)
def test_empty_rows_are_counted(name: str, count: int) -> None:
    pattern = pattern_of(name)
    assert pattern.empty_rows() == count
    assert int((pattern.weights().sum(-1) == 0).sum()) == count


def test_padding_queries_do_not_count() -> None:
    q = torch.zeros(2, 3, 300, 5)
    mask = Mask(cut=(Edge((1,), None, None),))
    padding = torch.zeros(2, 300, dtype=torch.bool)
    padding[1, 7:] = True
    assert attend(q, q, q, mask=mask)[1].empty_rows(padding) == 300 + 7


def _moved(part: Any, device: str) -> Any:
    """A bias or a mask on the device."""
    if isinstance(part, Mask):
        rules = {name: _moved(rule, device) for name, rule in vars(part).items()}
        return Mask(**rules)
    return part.to(device) if isinstance(part, Tensor) else part


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("path", ["fused", "explicit"])
@pytest.mark.parametrize(
    "call",
    [
        {"mask": Mask(padding=PADDING, causal=True)},
        {"mask": Mask(dense=DENSE)},
        {"mask": Mask(padding=torch.ones(BATCH, KEYS, dtype=torch.bool))},
        {"bias": CLOSED},
        {"mask": Mask(dense=DENSE), "bias": BIAS},
    ],
    ids=["padding, causal", "dense", "all padding", "bias", "dense, bias"],
)
def test_empty_rows_are_zero_and_smooth(call: dict, path: str, device: str) -> None:
    """Zero weights and values, and neither path turns them into NaN on the way back."""
    # A cap of 1e9 changes no score by more than rounding, but asks for the explicit path
    call = call if path == "fused" else {**call, "score": Dot(softcap=1e9)}
    call = {name: _moved(part, device) for name, part in call.items()}
    q, k, v = (x.to(device).requires_grad_() for x in inputs(CASES["plain"], 2))
    values, pattern = attend(q, k, v, **call)
    assert pattern.path == path
    empty = pattern.scores().isneginf().all(-1)
    assert empty.any()
    assert pattern.weights()[empty].eq(0).all()
    assert values[empty].eq(0).all()
    for number in (values.square().sum(), pattern.weights().square().sum()):
        gradients = torch.autograd.grad(number, (q, k), allow_unused=True, retain_graph=True)
        for gradient in gradients:
            assert gradient is not None
            assert gradient.isfinite().all()
        assert gradients[0][empty].eq(0).all()


# --- gradients --------------------------------------------------------------------------------


@pytest.mark.parametrize("kv_heads", [2, 6])
@pytest.mark.parametrize("name", ["plain", "padding, causal", "sink", "value width", "cut"])
def test_gradient_equals_autograd(name: str, kv_heads: int) -> None:
    """dL/dA from the values alone, against autograd through A itself (group by group)."""
    case = CASES[name]
    q, k, v = (x.requires_grad_() for x in inputs(case, kv_heads))
    values, pattern = attend(q, k, v, **case.call)
    assert pattern.values is not None
    number = values.pow(3).sum()
    found = pattern.detached(torch.autograd.grad(number, pattern.values)[0])
    weights = answer(name, kv_heads).weights.requires_grad_()
    grouped = weights.unflatten(1, (kv_heads, -1))
    explicit = torch.einsum("bghqk,bgkd->bghqd", grouped, v.detach().double())
    expected = torch.autograd.grad(explicit.pow(3).sum(), weights)[0]
    atol = 1e-6 * float(expected.abs().max())  # float32, relative to the largest
    assert torch.allclose(found.gradient().double(), expected, rtol=0, atol=atol)
    part = found.gradient(head=4, rows=[3, 1], item=1).double()
    assert torch.allclose(part, expected[1, 4, [3, 1]], rtol=0, atol=atol)
    assert not found.q.requires_grad
    assert found.values is None
