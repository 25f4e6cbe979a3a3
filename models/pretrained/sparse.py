"""Sparse attention: the keys that an indexer chose for each query.

Some decoders score all keys with a small network first and attend to the best ones only
(DeepSeek-V3.2's sparse attention; MiniMax-M3 chooses blocks of keys). They put the choice into
the mask for the implementations named "eager" and "sdpa"; others are passed the chosen indices.
"""

from dataclasses import replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from models.attention import Mask


def choose_keys(mask: Mask, indices: Int[Tensor, "batch query _"], keys: int) -> Mask:
    """The mask, with the keys that were not chosen hidden."""
    chosen = torch.zeros(*indices.shape[:2], keys, dtype=torch.bool, device=indices.device)
    return _restricted(mask, chosen.scatter(-1, indices.long(), True)[:, None])


def choose_blocks(
    mask: Mask,
    blocks: Int[Tensor, "batch group query _"],
    module: nn.Module,
    heads: int,
    keys: int,
) -> Mask:
    """The mask, with the keys outside of the chosen blocks hidden; −1 chooses none.

    Raises:
        ValueError: if the module states no size of its blocks.
    """
    size = getattr(getattr(module, "indexer", None), "block_size", None)
    if not isinstance(size, int):
        raise ValueError(f"{type(module).__name__} passes block_indices without a block size")
    count = -(-keys // size)
    chosen = torch.zeros(*blocks.shape[:3], count + 1, dtype=torch.bool, device=blocks.device)
    chosen.scatter_(-1, blocks.long().masked_fill(blocks < 0, count), True)
    per_key = chosen[..., :count].repeat_interleave(size, dim=-1)[..., :keys]
    return _restricted(mask, per_key.repeat_interleave(heads // blocks.shape[1], dim=1))


def _restricted(mask: Mask, chosen: Bool[Tensor, "batch head query key"]) -> Mask:
    return replace(mask, dense=chosen if mask.dense is None else mask.dense & chosen)
