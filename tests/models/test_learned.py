"""What is known to be learned by tasks like these is found in the models that were trained here."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from analysis.roles import mirrored, role_hits, role_score
from models.run import Model, load, trace
from train.sequences import LETTERS, Rearrange
from train.task import exam


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {"reverse": load("reverse")}


def stacked(model: Model, ids: Sequence[list[int]], layer: int) -> list[Tensor]:
    """The weights of each item, one trace each: items differ in length."""
    return [trace(model, torch.tensor([row])).weights(layer) for row in ids]


def best(scores: Tensor) -> float:
    """Of the heads, over all items."""
    return float(scores.mean(0).max())


def test_the_reverse_encoder_looks_along_the_anti_diagonal(models: dict[str, Model]) -> None:
    items = exam(Rearrange("reverse"), 200)
    rows = [LETTERS.ids(item) for item in items]
    keys = [torch.cat([mirrored(len(item)), torch.tensor([-1])]) for item in items]
    weights = stacked(models["reverse"], rows, 1)
    pairs = list(zip(weights, keys, strict=True))
    assert best(torch.stack([role_hits(*pair) for pair in pairs])) > 0.99
    assert best(torch.stack([role_score(*pair) for pair in pairs])) > 0.8
