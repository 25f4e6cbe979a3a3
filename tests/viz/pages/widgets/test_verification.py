"""The verdict of the second pass, in words."""

from typing import Any

import pytest
import torch

from models.verify import Verdict
from viz.pages.widgets import verification


@pytest.mark.parametrize(
    ("apart", "dtype", "begins"),
    [
        (1e-6, torch.float32, "Yes, up to the rounding of float32"),
        (1e-2, torch.float32, "No: they differ"),
        (1e-2, torch.bfloat16, "Yes, up to the rounding of bfloat16"),
    ],
)
def test_the_verdict_knows_the_precision(apart: float, dtype: Any, begins: str) -> None:
    line = verification.worded(Verdict(apart, 1.0, 6, 144), dtype)
    assert line.startswith(begins)
    assert "all 6 attention layers" in line


def test_what_the_network_does_not_use_stands_beside_the_verdict() -> None:
    unused = ("bert.pooler.dense.weight", "bert.pooler.dense.bias", "cls.bias")
    line = verification.worded(Verdict(1e-6, 1.0, 6, 144, left_out=unused), torch.float32)
    assert line.startswith("Yes, up to the rounding of float32")
    assert line.endswith("Of the checkpoint, it does not use bert.pooler (2 tensors), cls.bias.")


def test_the_verdict_of_one_pass() -> None:
    """Where other passes are no reference."""
    found = Verdict(0.9, 1.0, 6, 144, 12, 0.7, traced=0.0, values=2e-7, eager=0.8)
    line = verification.worded(found, torch.float32)
    assert line.startswith("Yes, up to the rounding of float32. The traced output differs")
    assert "computed from these weights by at most 2.0e-07 of the largest" in line
    assert "their outputs differ by up to 9.0e-01" in line
    assert "map" not in line
