"""How a tensor comes from others: each relation is found in the numbers, and no other."""

import pytest
import torch
import torch.nn.functional as F

from viz.build.flow import FUNCTIONS, Relation, relation

torch.manual_seed(3)
X, Y, Z = (torch.randn(1, 7, 12) for _ in range(3))
WIDE = torch.randn(1, 7, 24)
TOKENS = torch.randn(1, 2, 12)
TABLE = torch.randn(1, 9, 12)
KNOWN = [("z", Z), ("table", TABLE), ("wide", WIDE), ("x", X), ("y", Y)]


@pytest.mark.parametrize(
    ("value", "kind", "of", "name"),
    [
        (X.clone(), "same", {"x"}, ""),
        (X.reshape(7, 12), "same", {"x"}, ""),
        (WIDE[..., 12:].clone(), "same", {"second half of wide"}, ""),
        (X + Y, "sum", {"x", "y"}, ""),
        (X + Y + Z, "sum", {"x", "y", "z"}, ""),
        ((X + Y).reshape(7, 12), "sum", {"x", "y"}, ""),
        (X * Y, "product", {"x", "y"}, ""),
        (F.silu(X) * Y, "gate", {"x", "y"}, "silu"),
        (F.gelu(WIDE[..., :12]) * WIDE[..., 12:], "gate",
        {"first half of wide", "second half of wide"}, "gelu"),
        (X * 3.5, "scaled", {"x"}, "3.5"),
        (X[:, 0], "row", {"x"}, "first"),
        (X[:, -1], "row", {"x"}, "last"),
        (torch.cat([TOKENS, X], 1), "prefixed", {"x"}, "2"),
        (torch.cat([TOKENS, X], 1) + TABLE, "prefixed", {"x", "table"}, "2"),
        (X.transpose(1, 2), "rearranged", {"x"}, ""),
        (X + 0.01 * torch.randn_like(X), "unknown", set(), ""),
        (X.square() * Y, "unknown", set(), ""),
    ],
)  # fmt: skip
def test_a_relation_is_found(value, kind, of, name):
    found = relation(value, KNOWN)
    assert (found.kind, {*found.of}, found.name) == (kind, of, name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_told_from_the_others(name):
    found = relation(FUNCTIONS[name](X), KNOWN)
    assert found == Relation("function", ("x",), name)


def test_half_precision_is_told_too():
    half = [(name, value.bfloat16()) for name, value in KNOWN]
    by_name = dict(half)
    assert relation(by_name["x"] + by_name["y"], half).kind == "sum"
    assert relation(by_name["x"] + by_name["y"].square(), half).kind == "unknown"
