"""Pairs of cases, by turns: the long tests try every pair, the others each of both sides."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def by_turns(first: Iterable[Sequence[Any]], second: Iterable[Any], share: int) -> list[Any]:
    """Every value of `first`, several arguments, with every one of `second`: one of `share` is
    not long, another one for each value.
    """
    others = list(second)
    return [
        pytest.param(*each, other, marks=[pytest.mark.long] if (row + col) % share else [])
        for row, each in enumerate(first)
        for col, other in enumerate(others)
    ]
