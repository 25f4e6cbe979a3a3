"""Figures of the vision papers, against known answers, plain loops and scikit-learn."""

import math
from itertools import product

import pytest
import torch
from sklearn.decomposition import PCA
from torch import Tensor

from analysis.vision import (
    attention_distance,
    attention_entropy,
    cosine,
    feature_colours,
    grid_distances,
    outliers,
    patch_similarity,
)
from models.attention import attend
from models.inputs.layout import Layout
from models.trace import Trace
from tests.analysis.by_hand import trace_of

HEADS, DIM = 3, 5


def picture(rows: int, cols: int, *, prefix: int = 0, spread: float = 1.0, seed: int = 3) -> Trace:
    """A trace whose keys and queries are drawn; with a spread of 0 its weights are uniform."""
    dice = torch.Generator().manual_seed(seed)
    tokens = prefix + rows * cols
    q, k, v = (torch.randn(1, HEADS, tokens, DIM, generator=dice) for _ in range(3))
    _, pattern = attend(spread * q, k, v)
    patches = Layout(rows, cols, before=tuple(f"[{i}]" for i in range(prefix))).tokens(1)[0]
    return trace_of(pattern, tokens=patches, grid=(rows, cols), prefix=prefix)


# --- mean attention distance ------------------------------------------------------------------


@pytest.mark.parametrize("prefix", [0, 1, 5])
def test_uniform_attention_has_the_mean_distance_of_the_grid(prefix: int) -> None:
    found = picture(14, 14, prefix=prefix, spread=0.0)
    distance = 16 * attention_distance(found, found.sites[0])  # in pixels
    torch.testing.assert_close(distance, torch.full((HEADS,), 116.4922), atol=1e-3, rtol=0)


def test_the_distance_of_a_grid_that_is_not_square_is_that_of_a_plain_loop() -> None:
    rows, cols, prefix = 13, 17, 2  # more rows than a block
    found = picture(rows, cols, prefix=prefix, spread=2.0)
    weights = found.weights(0)[:, prefix:, prefix:]
    places = list(product(range(rows), range(cols)))
    apart = torch.tensor([[math.dist(here, there) for there in places] for here in places])
    expected = ((weights * apart).sum(-1) / weights.sum(-1)).mean(-1)
    torch.testing.assert_close(
        attention_distance(found, found.sites[0]), expected, atol=1e-4, rtol=0
    )


def test_entropy_of_uniform_attention_and_of_a_plain_sum() -> None:
    uniform = picture(14, 14, prefix=1, spread=0.0)
    entropy = attention_entropy(uniform, uniform.sites[0])
    torch.testing.assert_close(entropy, torch.full((HEADS,), math.log(197)), atol=1e-5, rtol=0)
    found = picture(13, 17, spread=1.0)  # more rows than a block
    expected = [
        sum(-p * math.log(p) for row in head.tolist() for p in row if p) / len(head)
        for head in found.weights(0)
    ]
    torch.testing.assert_close(
        attention_entropy(found, found.sites[0]), torch.tensor(expected), atol=1e-5, rtol=1e-5
    )


def test_outliers_are_those_beyond_the_median_absolute_deviation() -> None:
    norms = torch.tensor([[1.0, 2, 3, 4, 5, 6, 90], [5, 5, 5, 5, 5, 5, 5]])
    # median 4, deviations 3 2 1 0 1 2 86: MAD 2, so the bound is 4 + 10 · 2
    assert outliers(norms).tolist() == [[False] * 6 + [True], [False] * 7]
    assert outliers(torch.tensor([1.0, 2, 3, 4, 5, 6, 24]))[-1].item() is False
    assert outliers(torch.tensor([1.0, 2, 3, 4, 5, 6, 24]), deviations=9.9)[-1].item() is True


# --- features ---------------------------------------------------------------------------------


def features(seed: int) -> Tensor:
    """29 patches: an object on a background, apart along one direction."""
    dice = torch.Generator().manual_seed(seed)
    rows = torch.randn(29, 11, generator=dice)
    rows[:13] += 9 * torch.eye(11)[2]
    return rows


def test_colours_are_the_first_three_components() -> None:
    rows = features(3)
    colours, explained = feature_colours(rows)
    fit = PCA(n_components=3).fit(rows)
    expected = torch.tensor(fit.transform(rows))
    expected = (expected - expected.amin(0)) / (expected.amax(0) - expected.amin(0))
    for channel in range(3):
        apart = torch.minimum(
            (colours[:, channel] - expected[:, channel]).abs().max(),
            (colours[:, channel] - (1 - expected[:, channel])).abs().max(),
        )
        assert float(apart) < 1e-3  # either sign
    shares = torch.tensor(fit.explained_variance_ratio_).float()
    torch.testing.assert_close(explained, shares, atol=1e-4, rtol=0)
    with pytest.raises(ValueError, match="expected at least 4 patches, received 3"):
        feature_colours(rows[:3])


def test_patch_similarity_is_a_cosine() -> None:
    rows = features(3)
    found = patch_similarity(rows, 4)
    expected = torch.nn.functional.cosine_similarity(rows[4].expand(29, -1), rows, dim=1)
    torch.testing.assert_close(found, expected)
    with pytest.raises(ValueError, match="patch: expected 0 to 28, received 29"):
        patch_similarity(rows, 29)


def test_cosine_by_hand():
    vectors = torch.tensor([[3.0, 4.0], [-6.0, -8.0], [4.0, -3.0], [0.0, 0.0], [0.0, 2.0]])
    expected = torch.tensor(
        [
            [1, -1, 0, 0, 0.8],
            [-1, 1, 0, 0, -0.8],
            [0, 0, 1, 0, -0.6],
            [0, 0, 0, 0, 0],
            [0.8, -0.8, -0.6, 0, 1],
        ]
    )
    torch.testing.assert_close(cosine(vectors), expected)


def test_grid_distances_by_hand():
    found = grid_distances(2, 3)
    assert found.shape == (6, 6)
    assert found.equal(found.T)
    root = math.sqrt
    expected = torch.tensor([0, 1, 2, 1, root(2), root(5)])
    torch.testing.assert_close(found[0], expected)
    assert grid_distances(1, 1).tolist() == [[0]]
