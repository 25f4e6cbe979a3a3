"""Points on a plane: against formulas written out, and distances that are known."""

import math

import pytest
import torch

from analysis.plane import principal, scaled
from analysis.similarity import evenly, head_distances, head_map
from analysis.vectors import head_vectors
from analysis.view import View
from models.attention import Bilinear
from models.encoder import EncoderConfig
from models.run import load, trace
from tests.models.architectures import ARCHITECTURES

SENTENCE = "The animal didn't cross the street because it was too tired."


def test_principal_components_are_eigenvectors_of_the_covariance() -> None:
    x = torch.randn(23, 5) @ torch.diag(torch.tensor([5.0, 3.0, 1.0, 0.5, 0.1])) + 7
    points, shares = principal(x)
    values, _ = torch.linalg.eigh(torch.cov(x.T.double()))
    assert points.double().var(0).tolist() == pytest.approx(values[-2:].flip(0).tolist(), rel=1e-4)
    assert shares == pytest.approx((values[-2:].flip(0) / values.sum()).tolist(), rel=1e-4)
    assert points.mean(0).abs().max() < 1e-5
    assert abs(float((points[:, 0] * points[:, 1]).sum())) < 1e-3


def test_distances_on_a_plane_are_kept() -> None:
    x = torch.randn(13, 2, dtype=torch.float64)
    points, explained = scaled(torch.cdist(x, x).float())
    assert torch.cdist(points, points).allclose(torch.cdist(x, x).float(), atol=1e-4)
    assert explained == pytest.approx(1, abs=1e-5)


def test_the_same_numbers_give_the_same_picture() -> None:
    x = torch.randn(13, 6)
    points, _ = principal(x)
    assert principal(x)[0].equal(points)
    assert principal(x.flip(0))[0].flip(0).allclose(points, atol=1e-5)
    distances = torch.cdist(x, x)
    assert scaled(distances)[0].abs().argmax(0).shape == (2,)
    for axis, place in enumerate(scaled(distances)[0].abs().argmax(0).tolist()):
        assert scaled(distances)[0][place, axis] > 0


def test_points_that_are_one_and_vectors_of_one_number() -> None:
    assert principal(torch.ones(3, 4))[0].equal(torch.zeros(3, 2))
    points, shares = principal(torch.tensor([[1.0], [3.0]]))
    assert points.tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert shares == (1.0, 0.0)
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


def test_vectors_are_those_of_the_dot_product() -> None:
    """Distances on all components are those of queries and keys; grouped heads share keys."""
    each = next(one for one in ARCHITECTURES if one.name == "Llama")
    done = trace(each.build(), each.inputs())
    site = done.sites[1]
    found = head_vectors(done, site, 4)
    pattern = done.pattern(site)
    both = torch.cat([pattern.q[0, 4], pattern.k[0, 1]])
    expected, shares = principal(both)
    assert torch.cat([found.queries, found.keys]).equal(expected)
    assert found.explained == shares
    assert found.query_indices == tuple(range(11))
    with pytest.raises(ValueError, match="head: expected 0 to 5, received 6"):
        head_vectors(done, site, 6)


def test_vectors_of_a_bilinear_score_are_the_query_and_the_key_through_the_matrix() -> None:
    config = EncoderConfig(vocab=31, dim=21, heads=3, depth=1, scoring="bilinear", key_dim=5)
    done = trace(load(config), torch.arange(4, 11)[None])
    pattern = done.pattern(0)
    assert isinstance(pattern.score, Bilinear)
    keys = torch.einsum("qk,tk->tq", pattern.score.matrix[2], pattern.k[0, 2])
    expected, _ = principal(torch.cat([pattern.q[0, 2], keys]).detach())
    found = head_vectors(done, done.sites[0], 2)
    torch.testing.assert_close(torch.cat([found.queries, found.keys]), expected)


def test_vectors_of_words_and_of_a_long_text() -> None:
    done = trace(load("minilm"), SENTENCE)
    view = View(done)
    assert len(head_vectors(view, view.sites[2], 3).keys) == len(view.key_labels(view.sites[2]))
    few = head_vectors(done, done.sites[2], 3, most=5)
    assert few.queries.shape == few.keys.shape == (5, 2)
    assert few.query_indices[0] == 0
    assert few.query_indices[-1] == len(done.labels) - 1


def test_padding_has_no_vectors() -> None:
    words = load("minilm")
    both = trace(words, ["a bank in town", "a bank by the river in a small town"])
    alone = trace(words, "a bank in town")
    found = head_vectors(both, both.sites[1], 2)
    expected = head_vectors(alone, alone.sites[1], 2)
    assert found.queries.allclose(expected.queries, atol=1e-4)
