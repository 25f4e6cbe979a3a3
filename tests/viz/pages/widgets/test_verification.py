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
