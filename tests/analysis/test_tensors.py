"""Mean, spread, range and histogram of tensors, against torch and plain counting."""

import pytest
import torch

from analysis import tensors
from analysis.tensors import histogram, summary

DRAWN = torch.randn(7, 11, 13, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("chunk", [3, 10_000])
def test_a_summary_is_torch_s(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "CHUNK", chunk)
    found = summary(DRAWN)
    assert found.mean == pytest.approx(float(DRAWN.mean()), abs=1e-6)
    assert found.std == pytest.approx(float(DRAWN.std(correction=0)), rel=1e-6)
    assert (found.low, found.high) == (float(DRAWN.min()), float(DRAWN.max()))


def test_whole_numbers_half_precision_and_nothing() -> None:
    assert summary(torch.arange(5)) == (2.0, pytest.approx(2**0.5), 0.0, 4.0)
    assert summary(torch.tensor([1.5, 2.5], dtype=torch.bfloat16))[:2] == (2.0, 0.5)
    assert summary(torch.empty(0)).mean != summary(torch.empty(0)).mean


def test_every_number_is_in_one_bin() -> None:
    counts, edges = histogram(DRAWN, 17)
    assert counts.sum() == DRAWN.numel()
    values = DRAWN.double().flatten()
    for index, count in enumerate(counts.tolist()):
        inside = (values >= edges[index]) & (values < edges[index + 1])
        last = index == 16
        assert count == int(inside.sum()) + (int((values == values.max()).sum()) if last else 0)


def test_one_number_and_none() -> None:
    counts, edges = histogram(torch.full((3,), 2.0), 5)
    assert counts.tolist() == [0, 0, 3, 0, 0]
    assert (float(edges[0]), float(edges[-1])) == (1.5, 2.5)
    with pytest.raises(ValueError, match="expected finite numbers"):
        histogram(torch.tensor([1.0, float("inf")]))
