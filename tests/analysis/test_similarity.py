"""Similarities with a closed form, and groups by distance against a plain loop."""

import math

import pytest
import torch

from analysis.similarity import by_distance, cosine, grid_distances


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


def test_groups_equal_the_loop_and_leave_out_what_is_masked():
    draw = torch.Generator().manual_seed(3)
    values = torch.randn(7, 11, generator=draw)
    distances = torch.randint(0, 5, (7, 11), generator=draw).float()
    values[2, 3], values[6, 10] = torch.nan, torch.nan
    found = by_distance(values, distances)
    for number, distance in enumerate(found.distance.tolist()):
        group = [
            values[i, j].item()
            for i in range(7)
            for j in range(11)
            if distances[i, j] == distance and not values[i, j].isnan()
        ]
        assert found.mean[number].item() == pytest.approx(sum(group) / len(group), abs=1e-6)
        assert found.low[number].item() == min(group)
        assert found.high[number].item() == max(group)


def test_grid_distances_by_hand():
    found = grid_distances(2, 3)
    assert found.shape == (6, 6)
    assert found.equal(found.T)
    root = math.sqrt
    expected = torch.tensor([0, 1, 2, 1, root(2), root(5)])
    torch.testing.assert_close(found[0], expected)
    assert grid_distances(1, 1).tolist() == [[0]]
