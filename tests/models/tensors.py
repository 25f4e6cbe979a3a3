"""Random numbers and ids, the same every time."""

import torch
from torch import Tensor


def noise(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def ids_of(batch: int = 2, tokens: int = 11, seed: int = 7) -> Tensor:
    """Of a vocabulary of 101."""
    return torch.randint(101, (batch, tokens), generator=torch.Generator().manual_seed(seed))
