"""Rows of masks and the keys that they may reach."""

import pytest
import torch

from models.attention import Mask
from models.attention.multihead import check_heads


@pytest.mark.parametrize("keys", [1, 2, 7])
def test_a_dense_mask_from_a_key_on(keys: int) -> None:
    """A column for all keys stays one; any other axis of keys is cut."""
    dense = torch.rand(2, 1, 5, keys, generator=torch.Generator().manual_seed(3)) > 0.5
    rows = torch.tensor([1, 4])
    found = Mask(dense=dense).visible(rows, keys, range(3), start=keys - 1)
    assert found is not None
    assert found.equal(dense[:, :, rows, -1:])
    whole = Mask(dense=dense[..., :1]).visible(rows, 7, range(3), start=3)
    assert whole is not None
    assert whole.equal(dense[:, :, rows, :1])


@pytest.mark.parametrize(
    ("mask", "rows", "reach"),
    [
        (Mask(causal=True), slice(2, 4), slice(0, 4)),
        (Mask(causal=True, fill=-5.0), slice(2, 4), slice(0, 9)),
        (Mask(window=3), slice(4, 5), slice(2, 7)),
        (Mask(causal=True, window=3, offset=1), slice(4, 6), slice(3, 7)),
        (Mask(window=3), slice(11, 12), slice(0, 9)),  # the first key would be the last
        (Mask(window=3), slice(12, 13), slice(0, 9)),
    ],
)
def test_the_keys_that_rows_may_reach(mask: Mask, rows: slice, reach: slice) -> None:
    assert mask.reach(rows, 9) == reach


@pytest.mark.parametrize(("dim", "heads", "head_dim"), [(1, 1, None), (7, 3, 1), (2, 2, None)])
def test_the_smallest_heads(dim: int, heads: int, head_dim: int | None) -> None:
    check_heads(dim, heads, head_dim)
    for wrong in ((0, heads, head_dim), (dim, 0, head_dim), (dim, heads, 0)):
        with pytest.raises(ValueError, match="expected positive dim, heads and head_dim"):
            check_heads(*wrong)
