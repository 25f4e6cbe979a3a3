"""Many heads: shapes as courses print them, both ways to work them out, and MiniLM's habits."""

import re

import pytest
import torch

from analysis.habits import habits
from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.lessons.followed import follow
from models.run import load, trace
from models.seeding import seeded
from tests.viz.pages.helpers import choose
from tests.viz.pages.lessons.pages import errors, numbers, run, whole, words
from viz.pages.lessons.heads.texts import TRAINED_TRIES, TRIES
from viz.pages.lessons.tables import number

SENTENCE = "The animal didn't cross the street because it was too tired."


@pytest.mark.parametrize(
    ("which", "told"),
    [
        (0, ("q, k, v 1 × 4 × 512", "into 8 heads of 64", "W O 512 × 128 gives 1 × 4 × 128")),
        (1, ("q, k, v 8 × 5 × 200", "into 20 heads of 10", "W O 200 × 10 gives 8 × 5 × 10")),
        (2, ("x 16 × 5 × 5 times", "into 5 heads of 20", "W O 100 × 100 gives 16 × 5 × 100")),
        (3, ("into 1 head of 16", "W O (left out) gives 1 × 4 × 16")),
    ],
)
def test_shapes_of_the_links_to_try(which: int, told: tuple[str, ...]) -> None:
    said = words(whole("heads", **TRIES[which].settings))
    for part in told:
        assert part in said
    (far,) = re.findall(r"Largest difference anywhere: ([\d.e+-]+);", said)
    assert float(far) < 1e-5


def test_heads_that_do_not_divide_say_what_would() -> None:
    app = whole("heads", heads=3)
    (line,) = errors(app)
    assert "heads must divide dim: expected one of 1, 2, 4, 8, 16 for dim 16" in line
    assert "To take away" in words(app)


def test_weights_and_result_are_the_layers() -> None:
    app = whole("heads", seed=7, tokens=3)
    with seeded(7):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=16, heads=4)).eval()
        x = torch.randn(1, 3, 16)
    out, pattern = layer(x)
    vectors = torch.stack([part[0, :, 0] for part in (pattern.q, pattern.k, pattern.v)])
    expected = [*vectors.flatten().tolist(), *pattern.weights(item=0).flatten().tolist()]
    assert numbers(app, 2)[: len(expected)] == pytest.approx(expected, abs=0.0051)
    values = [value for head in range(4) for value in follow(pattern, head=head).values[0].tolist()]
    told = [*values, *values[:12], *out[0, 0, :6].tolist(), *out[0, 0, :6].tolist()]
    before = numbers(app)[: len(told)]
    assert before == pytest.approx(told, abs=6e-5)
    choose(app, "heads", "seed", 8)
    after = numbers(app)[: len(told)]
    assert all(a != b for a, b in zip(before, after, strict=True))


def test_both_ways_to_scale_are_one() -> None:
    root, twice = (numbers(whole("heads", scaling=name))[:40] for name in ("sqrt", "fourth root"))
    assert root == pytest.approx(twice, abs=1e-4)


def test_minilm_s_habits_follow_the_sentence() -> None:
    app = whole("heads", layer=1, head=8, among="words")
    found = habits(trace(load("minilm"), SENTENCE), words=True)
    assert f"next {number(float(found.scores[2, 1, 8]))}" in words(app)
    choose(app, "heads", "sentence", "A bank by the river, a bank in town.")
    other = habits(trace(load("minilm"), "A bank by the river, a bank in town."), words=True)
    assert f"next {number(float(other.scores[2, 1, 8]))}" in words(app)
    assert found.names != other.names


@pytest.mark.parametrize("sentence", ["NaN", "x" * 10_000, "😀", " "])
def test_a_sentence_that_is_none_is_one_line(sentence: str) -> None:
    app = whole("heads", sentence=sentence)
    (line,) = errors(app)
    assert line.startswith("sentence: expected")
    assert "To take away" in words(app)


def test_the_first_step_has_q_k_and_v_in_one_row() -> None:
    app = run("heads", step=0, scaling="fourth root")
    with seeded(0):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=16, heads=4)).eval()
        x = torch.randn(1, 4, 16)
    told = [part(x)[0, 0, :12] for part in (layer.query, layer.key, layer.value)]
    told = [told[0] / 4**0.25, told[1] / 4**0.25, told[2]]
    assert numbers(app)[:36] == pytest.approx(torch.cat(told).tolist(), abs=6e-5)
    assert "q / ∜d" in words(app)


def test_a_head_that_looks_one_word_back() -> None:
    app = whole("heads", **TRAINED_TRIES[0].settings)
    (score,) = re.findall(r"previous (0\.\d{4})", words(app))
    assert float(score) > 0.99


def test_steps_hide_what_comes_later() -> None:
    said = words(run("heads", step=1))
    assert "into 4 heads of 4" in said
    assert "q kᵀ / √4" not in said
    assert "Head 0" not in said
