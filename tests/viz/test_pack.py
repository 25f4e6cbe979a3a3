"""Messages to the views: aligned, plain, and read back as they were written."""

import struct

import numpy as np
import pytest

from viz import theme
from viz.pack import (
    BUDGET,
    cells,
    factor_for,
    layer_part,
    message,
    pack,
    row_part,
    thumbs_part,
    unpack,
)

ODD = ["<script>alert(1)</script>", "🙂", "مرحبا", " ", "", "x" * 60, "the", "the"]


@pytest.mark.parametrize("length", range(9))
def test_sections_start_at_multiples_of_eight(length: int) -> None:
    first, second = np.arange(5, dtype=np.uint8), np.array([0.5, 0.25], dtype=np.float32)
    blob = pack({"x": "é" * length, "first": first, "in": [{"second": second}]})
    (size,) = struct.unpack_from("<I", blob)
    assert (4 + size) % 8 == 0
    header, area = unpack(blob)
    assert header == {"x": "é" * length, "first": 0, "in": [{"second": 8}]}
    assert area[:5] == bytes(range(5))
    np.testing.assert_array_equal(np.frombuffer(area, "<f4", 2, 8), second)


def test_numbers_are_little_endian_whatever_they_were() -> None:
    _, area = unpack(pack({"x": np.array([1.5], dtype=">f4")}))
    assert area[:4] == struct.pack("<f", 1.5)


@pytest.mark.parametrize(
    "bad",
    [
        *(np.float32(1), np.float64(1), np.int64(1), np.bool_(True)),
        *(float("nan"), float("inf"), {1: "a"}, {"a": {"b"}}, [b"bytes"], object()),
    ],
    ids=lambda bad: type(bad).__name__,
)
def test_what_is_not_plain_json_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match=r"expected .* header\['deep'\]"):
        pack({"deep": bad})


def test_labels_arrive_as_they_are_and_a_base_brings_its_colours() -> None:
    texts = [{"labels": ODD, "special": []}]
    header, area = unpack(message({"texts": texts}))
    assert header["base"]["texts"] == texts
    assert header["maps"] == header["rows"] == []
    for mode in theme.MODES:
        colours = header["base"]["theme"][mode]
        assert colours["background"] == theme.COLOURS[mode].background
        assert len(colours["heads"]) == 16
        ramp = np.frombuffer(area, np.uint8, 768, colours["sequential"]).reshape(256, 3)
        np.testing.assert_array_equal(ramp, theme.sequential(mode))


def test_a_row_is_of_finite_numbers_but_for_masked_scores() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="NaN"):
            row_part(0, 0, "key", 0, np.array([bad]))
    assert row_part(0, 0, "key", 0, np.array([-np.inf]), "scores")["sum"] is None


def test_thumbs_of_unequal_sites_are_filled_up_and_their_means_come_last() -> None:
    rng = np.random.default_rng(0)
    small, large = rng.random((4, 3, 7)), rng.random((5, 11, 2))  # two and three heads
    part = thumbs_part([small, large])
    maxima = np.array(part["max"])
    levels = maxima[..., None, None] * (part["at"] / 255) ** 2
    assert levels.shape == (2, 5, 11, 7)
    for filled, expected in (
        (levels[0, :2, :3], small[:2]),
        (levels[0, 3:, :3], small[2:]),
        (levels[1, :, :, :2], large),
    ):
        np.testing.assert_allclose(filled, expected, atol=1 / 255)
    assert levels.sum() == pytest.approx(small.sum() + large.sum(), rel=0.01)  # zeros elsewhere


# ---- layers of a picture


@pytest.mark.parametrize(
    ("heads", "grid", "prefix", "factor"),
    [(12, (14, 14), 1, 1), (6, (60, 60), 1, 4), (3, (14, 14), 0, 1), (16, (37, 53), 5, 4)],
)
def test_a_layer_fits_its_message(
    heads: int, grid: tuple[int, int], prefix: int, factor: int
) -> None:
    assert factor_for(heads, grid, prefix) == factor
    count = cells(grid, prefix, factor)
    weights = np.random.default_rng(0).random((heads, count, count), np.float32)
    assert len(message(layers=[layer_part(0, weights, factor)])) <= 500_000
    if factor > 1:
        assert heads * cells(grid, prefix, factor - 1) ** 2 > BUDGET
