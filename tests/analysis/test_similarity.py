"""Similarities and distances with a closed form."""

import math

import torch

from analysis.vision import cosine, grid_distances


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
