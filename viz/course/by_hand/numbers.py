"""A film and a viewer, then self-attention over two words without anything to learn."""

from typing import Any

import torch
from torch import Tensor

from models.attention import Dot, Pattern, attend
from viz.course.numbers import follow

WORDS, FEATURES = 2, 3


def numbers(film: list[float], viewer: list[float], x: list[float], row: int) -> dict[str, Any]:
    """The terms of a dot product, and every step from the words to their outputs."""
    products = torch.tensor(film) * torch.tensor(viewer)
    words = torch.tensor(x).view(WORDS, FEATURES)
    steps = follow(unlearned(words))
    match = {"match": products.sum(), "products": products, "other": 1 - row}
    return {**steps, **match, "x": words, "outputs": steps["values"]}


def unlearned(x: Tensor) -> Pattern:
    """softmax(x xᵀ) x: every word as a mixture of all words, by how alike they are."""
    words = x[None, None]  # "batch head word dim"
    _, pattern = attend(words, words, words, score=Dot(scale=1.0))
    return pattern
