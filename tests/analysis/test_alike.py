"""Heads of two models compared over the pieces of text that both have: against slow loops."""

import pytest

from analysis.alike import alike, common_pieces, folded
from models.run import load, trace
from models.trace import Tokens

TEXT = "the cats near the cabinet"


def tokens(*spans: tuple[int, int] | None) -> Tokens:
    count = len(spans)
    return Tokens(
        ids=(0,) * count,
        labels=tuple("abcdefgh"[:count]),
        special=tuple(span is None for span in spans),
        segments=(0,) * count,
        spans=tuple(spans),
    )


def test_pieces_end_where_tokens_of_both_end() -> None:
    first = tokens(None, (0, 3), (4, 6), (6, 9), (9, 12), None)
    second = tokens((0, 2), (2, 3), (3, 9), (9, 10), (10, 12))
    assert common_pieces(first, second) == (((1,), (2, 3), (4,)), ((0, 1), (2,), (3, 4)))
    with pytest.raises(ValueError, match="nothing in common"):
        common_pieces(tokens((0, 3)), tokens((0, 3)))


def test_a_model_is_most_like_itself_head_by_head() -> None:
    t = trace(load("minilm"), TEXT)
    site = t.sites[3]
    result = alike(t, site, 1, t)
    assert result.best(1) == [(3, 1)]
    assert float(result.overlap[3, 1]) == pytest.approx(1, abs=1e-5)
    assert result.pieces == ("the", "cats", "near", "the", "cabinet")


def test_the_overlap_of_two_models() -> None:
    t, other = trace(load("grammar-next"), TEXT), trace(load("minilm"), TEXT)
    result = alike(t, t.sites[0], 1, other)
    ours, theirs = common_pieces(t.tokens[0], other.tokens[0])
    first = folded(t.weights(0, 1)[None], ours)[0]
    for row, head in result.best(3):
        second = folded(other.weights(row, head)[None], theirs)[0]
        shares = [
            sum(min(float(a), float(b)) for a, b in zip(*pair, strict=True))
            for pair in zip(first, second, strict=True)
        ]
        expected = sum(shares) / len(shares)
        assert float(result.overlap[row, head]) == pytest.approx(expected, abs=1e-5)
    best = [float(result.overlap[each]) for each in result.best(72)]
    assert best == sorted(best, reverse=True)
    assert len(best) == 72
