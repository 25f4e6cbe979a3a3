"""Chosen keys and blocks of keys as masks: against sets of positions."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from models.attention import Mask
from models.pretrained.sparse import choose_blocks, choose_keys


@pytest.mark.parametrize("dense", [False, True])
def test_only_chosen_keys_are_seen(dense: bool) -> None:
    seen = torch.rand(2, 1, 3, 7, generator=torch.Generator().manual_seed(2)) > 0.5
    chosen = torch.tensor([[[0, 5], [2, 2], [6, 1]], [[3, 4], [0, 6], [5, 2]]])
    mask = Mask(causal=True, offset=4, dense=seen if dense else None)
    found = choose_keys(mask, chosen, 7)
    assert (found.causal, found.offset) == (True, 4)
    assert found.dense is not None
    for item in range(2):
        for row in range(3):
            own = {k for k in chosen[item, row].tolist() if not dense or seen[item, 0, row, k]}
            assert set(found.dense[item, 0, row].nonzero().flatten().tolist()) == own


def test_only_chosen_blocks_are_seen() -> None:
    """Blocks of 3 among 7 keys for 2 groups of 2 heads; −1 chooses none."""
    module: Any = nn.Module()
    module.indexer = SimpleNamespace(block_size=3)
    chosen = torch.tensor([[[[0, 2], [1, -1]], [[-1, -1], [2, 1]]]])
    found = choose_blocks(Mask(), chosen, module, 4, 7).dense
    assert found is not None
    expected = [[{0, 1, 2, 6}, {3, 4, 5}]] * 2 + [[set(), {3, 4, 5, 6}]] * 2
    rows = [[set(row.nonzero().flatten().tolist()) for row in head] for head in found[0]]
    assert rows == expected
    with pytest.raises(ValueError, match="Linear passes block_indices without a block size"):
        choose_blocks(Mask(), chosen, nn.Linear(3, 3), 4, 7)
