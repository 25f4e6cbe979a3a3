"""Points on a plane: against formulas written out, and distances that are known."""

import math

import pytest
import torch

from analysis.plane import scaled
from analysis.similarity import evenly, head_distances, head_map
from analysis.view import View
from models.run import load, trace
from tests.models.architectures import ARCHITECTURES

SENTENCE = "The animal didn't cross the street because it was too tired."


def test_distances_on_a_plane_are_kept() -> None:
    x = torch.randn(13, 2, dtype=torch.float64)
    points, explained = scaled(torch.cdist(x, x).float())
    assert torch.cdist(points, points).allclose(torch.cdist(x, x).float(), atol=1e-4)
    assert explained == pytest.approx(1, abs=1e-5)


def test_the_same_numbers_give_the_same_picture() -> None:
    x = torch.randn(13, 6)
    distances = torch.cdist(x, x)
    assert scaled(distances)[0].abs().argmax(0).shape == (2,)
    for axis, place in enumerate(scaled(distances)[0].abs().argmax(0).tolist()):
        assert scaled(distances)[0][place, axis] > 0


def test_one_point_lies_at_the_origin() -> None:
    assert scaled(torch.zeros(1, 1))[0].tolist() == [[0.0, 0.0]]


def test_distance_of_heads_by_a_slow_loop() -> None:
    weights = torch.randn(3, 5, 7).softmax(-1)
    found = head_distances(weights)
    for a in range(3):
        for b in range(3):
            total = 0.0
            for p, q in zip(weights[a].tolist(), weights[b].tolist(), strict=True):
                for x, y in zip(p, q, strict=True):
                    middle = (x + y) / 2
                    total += x * math.log2(x / middle) / 2 + y * math.log2(y / middle) / 2
            assert float(found[a, b]) == pytest.approx(math.sqrt(max(total, 0) / 5), abs=1e-3)


def test_equal_heads_and_heads_without_a_common_key() -> None:
    first = torch.eye(4)[[0, 1, 0]][None]
    found = head_distances(torch.cat([first, first, torch.eye(4)[[2, 3, 3]][None]]))
    assert found.tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_rows_are_evenly_spread() -> None:
    assert evenly(5, 9).tolist() == [0, 1, 2, 3, 4]
    assert evenly(1001, 3).tolist() == [0, 500, 1000]


def test_minilm_s_heads_on_a_map() -> None:
    done = trace(load("minilm"), SENTENCE)
    found = head_map(done)
    assert found.points.shape == (6, 12, 2)
    assert found.rows == tuple(range(len(done.labels)))
    assert 0 < found.explained < 1
    assert head_map(View(done)).points.shape == (6, 12, 2)


def test_only_heads_over_the_same_tokens_are_compared() -> None:
    each = next(one for one in ARCHITECTURES if one.name == "BART")
    done = trace(each.build(), each.inputs())
    found = head_map(done)
    for site, points in zip(done.sites, found.points, strict=True):
        missing = points.isnan().all(-1)
        assert bool(missing[: site.heads].all()) == (site.kind == "self") or site.kind == "cross"
