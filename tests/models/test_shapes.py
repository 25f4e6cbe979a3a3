"""Wrong shapes and choices are one clear ValueError."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from models.attention import Dot, Mask, Pattern, attend
from models.attention.relative import rotary_angles, rotate
from models.edits import Ablate

# The import hook of tests/conftest.py would speak up first.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def x(batch: int, head: int, token: int = 5, dim: int = 3) -> Tensor:
    return torch.zeros(batch, head, token, dim)


def yes(*shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.bool)


Q = x(2, 6)
NONE_SUCH: Any = "squeeze"
SIX = "expected one number for each of 6 heads, received"


def attending(k: Tensor = Q, v: Tensor = Q, q: Tensor = Q, **more: Any) -> Callable[[], object]:
    return lambda: attend(q, k, v, **more)


def masked(*, queries: int = 5, **fields: Any) -> Callable[[], object]:
    return lambda: attend(x(2, 6, queries), Q, Q, mask=Mask(**fields))


WRONG: list[tuple[Callable[[], object], str]] = [
    (
        attending(x(2, 4), x(2, 4)),
        "expected key and value heads that divide 6 query heads, received 4 and 4",
    ),
    (attending(x(1, 6), x(1, 6)), "expected keys for 2 items, received 1"),
    (
        attending(v=x(2, 6, 7)),
        "expected a value for every key, received keys (2, 6, 5, 3) and values (2, 6, 7, 3)",
    ),
    (
        attending(x(2, 6, 5, 4)),
        "a dot product needs queries and keys of one width, received 3 and 4",
    ),
    (masked(padding=yes(2, 4)), "padding: expected shape (2, 5), received (2, 4)"),
    (masked(key_padding=yes(2, 7)), "key_padding: expected shape (2, 5), received (2, 7)"),
    (
        masked(queries=7, query_padding=yes(2, 5)),
        "query_padding: expected shape (2, 7), received (2, 5)",
    ),
    (masked(segments=yes(2, 7).long()), "segments: expected shape (2, 5), received (2, 7)"),
    (
        masked(segments=yes(2, 5).long(), offset=1),
        "segments: expected every query among 5 keys, received 5 queries from position 1",
    ),
    (
        masked(dense=yes(2, 3, 5, 5)),
        "dense: expected shape (2, 6, 5, 5), or 1 for an axis, received (2, 3, 5, 5)",
    ),
    (
        attending(bias=torch.zeros(2, 6, 4, 5)),
        "bias: expected shape (2, 6, 5, 5), or 1 for an axis, received (2, 6, 4, 5)",
    ),
    (attending(score=Dot(sink=torch.zeros(5))), f"sink: {SIX} (5,)"),
    (lambda: Pattern(Q, Q, Q, temperature=torch.ones(1)), f"temperature: {SIX} (1,)"),
    (
        lambda: rotate(x(2, 6, 5, 4), rotary_angles(7, 4)),
        "angles: expected 5 tokens and 2 pairs, received 7 and 2",
    ),
    (lambda: Mask(window=0), "window: expected at least 1 key, received 0"),
    (lambda: Mask(fill=0.0), "fill: expected a number below 0, received 0.0"),
    (lambda: Mask(offset=-1), "offset: expected 0 or more, received -1"),
    (lambda: Ablate(0, 0, NONE_SUCH), "expected zero, mean, shuffled or noise, received 'squeeze'"),
    (lambda: Dot(softcap=0.0), "softcap: expected a positive number, received 0.0"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_wrong_shape_is_one_clear_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=r"^.+$") as found:  # one line
        call()
    assert message in str(found.value)


def test_what_just_fits() -> None:
    """The smallest window, and queries that end with the last key."""
    masked(window=1)()
    masked(queries=3, segments=torch.zeros(2, 5, dtype=torch.long), offset=2)()
