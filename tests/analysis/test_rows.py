"""What is said of rows of weights, on rows that are known."""

import torch

from analysis.rows import check_rows
from models.edits import Cut
from models.encoder import EncoderConfig
from models.run import Trace, load, trace

MODEL = EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13, max_tokens=64)


def traced(**given) -> Trace:
    return trace(load(MODEL), torch.arange(11)[None], **given)


def test_rows_of_a_softmax_sum_to_one() -> None:
    found = traced()
    result = check_rows(found, found.sites[1])
    assert (result.rows, result.total, result.whole) == (33, 33, 33)
    assert (result.empty, result.odd) == (0, 0)


def test_few_rows_of_many_are_looked_at() -> None:
    found = traced()
    result = check_rows(found, found.sites[0], most=3 * 11 * 5)
    assert (result.rows, result.total) == (15, 33)
    assert result.whole == 15


def test_an_empty_row_is_counted() -> None:
    found = traced(edits=[Cut(0, 1, 2, None)])
    result = check_rows(found, found.sites[0])
    assert (result.empty, result.whole, result.odd) == (1, 32, 0)
