"""A query that sees no key, four ways."""

import torch

from models.lessons.hidden_row import hidden_row

SCORES = torch.tensor([0.3, -1.0, 2.0, 0.7, 1.1])


def test_a_row_that_sees_nothing() -> None:
    found = hidden_row(SCORES)
    assert found["−∞, as here"].eq(0).all()
    assert found["−∞, a plain softmax"].isnan().all()
    assert (found["−1e9"] - 0.2).abs().max() < 1e-7  # five keys, however they score
    assert found["−1e9 in half precision"].isnan().all()


def test_half_precision_has_no_such_number() -> None:
    assert torch.tensor(-1e9).half().isneginf()
    assert torch.finfo(torch.float16).max == 65504
