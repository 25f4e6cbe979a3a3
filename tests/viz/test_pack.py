"""The blob: aligned, plain, and read back as it was written."""

import struct
from typing import Any

import numpy as np
import pytest

from viz import theme
from viz.pack import Map, Row, Thumbs, message, pack, unpack

ODD = ["<script>alert(1)</script>", "🙂", "مرحبا", " ", "", "x" * 60, "the", "the"]


def base(**changes: Any) -> dict[str, Any]:
    site = {"layer": 0, "kind": "self", "heads": 3, "queries": 5, "keys": 7}
    return {
        "model": "m",
        "note": "",
        "texts": [{"labels": ODD[:5], "special": [0]}, {"labels": ODD[:7], "special": []}],
        "sites": [{**site, "query_text": 0, "key_text": 1}],
        "select": {"site": 0, "head": 0, "token": None, "direction": "out", "scale": "fixed"},
        **changes,
    }


@pytest.mark.parametrize("length", range(9))
def test_sections_start_at_multiples_of_eight(length: int):
    first, second = np.arange(5, dtype=np.uint8), np.array([0.5, 0.25], dtype=np.float32)
    blob = pack({"x": "é" * length}, [first, second])
    (size,) = struct.unpack_from("<I", blob)
    assert (4 + size) % 8 == 0
    header, area = unpack(blob)
    assert header == {"x": "é" * length}
    assert area[:5] == bytes(range(5))
    np.testing.assert_array_equal(np.frombuffer(area, "<f4", 2, 8), second)


def test_numbers_are_little_endian_whatever_they_were():
    _, area = unpack(pack({}, [np.array([1.5], dtype=">f4")]))
    assert area == struct.pack("<f", 1.5)


@pytest.mark.parametrize(
    "bad",
    [
        np.float32(1),
        np.float64(1),
        np.int64(1),
        np.bool_(True),
        np.zeros(2),
        float("nan"),
        float("inf"),
        {1: "a"},
        {"a": {"b"}},
        [b"bytes"],
        object(),
    ],
    ids=lambda bad: type(bad).__name__,
)
def test_what_is_not_plain_json_is_refused(bad: object):
    with pytest.raises(ValueError, match=r"expected .* header\['deep'\]"):
        pack({"deep": bad}, [])


@pytest.mark.parametrize("blob", [b"", b"abc", b"\xff\0\0\0{}", b"\x02\0\0\0{}"])
def test_a_torn_blob_is_refused(blob: bytes):
    with pytest.raises(ValueError, match="expected"):
        unpack(blob)


def test_labels_arrive_as_they_are():
    texts = [{"labels": ODD, "special": []}]
    header, _ = unpack(message(trace="k3j", base=base(texts=texts)))
    assert header["base"]["texts"] == texts
    assert header["maps"] == header["rows"] == []


def test_a_base_brings_its_colours():
    header, area = unpack(message(trace="k3j", base=base()))
    for mode in theme.MODES:
        colours = header["base"]["theme"][mode]
        assert colours["background"] == theme.COLOURS[mode].background
        assert len(colours["heads"]) == 16
        ramp = np.frombuffer(area, np.uint8, 768, colours["sequential"]).reshape(256, 3)
        np.testing.assert_array_equal(ramp, theme.sequential(mode))


def test_a_base_must_be_complete():
    broken = base()
    del broken["texts"]
    with pytest.raises(ValueError, match="texts"):
        message(trace="k3j", base=broken)


def test_maps_rows_and_thumbs_read_back():
    rng = np.random.default_rng(0)
    weights = rng.random((5, 7), dtype=np.float32)
    thumbs = rng.random((2, 5, 3, 7), dtype=np.float32)
    header, area = unpack(
        message(
            trace="k3j",
            maps=[Map(0, 3, weights, (10, 15), (20, 34)), Map(1, "mean", weights, (0, 5), (0, 7))],
            rows=[Row(1, "max", "key", 4, weights[0])],
            thumbs=Thumbs(thumbs),
        )
    )
    assert (header["v"], header["trace"]) == (1, "k3j")
    part = header["maps"][0]
    assert (part["site"], part["head"], part["rows"], part["cols"]) == (0, 3, [10, 15], [20, 34])
    quantised = np.frombuffer(area, np.uint8, 35, part["at"]).reshape(part["shape"])
    # a step of the root is 1/255
    np.testing.assert_allclose(part["max"] * (quantised / 255) ** 2, weights, atol=1 / 255)
    row = header["rows"][0]
    assert (row["site"], row["head"], row["axis"], row["index"]) == (1, "max", "key", 4)
    np.testing.assert_array_equal(np.frombuffer(area, "<f4", 7, row["at"]), weights[0])
    assert row["sum"] == weights[0].sum(dtype=np.float64)
    small = header["thumbs"]
    assert [small[name] for name in ("sites", "columns", "rows", "cols")] == [2, 5, 3, 7]
    np.testing.assert_allclose(small["max"], thumbs.max((-2, -1)))
    assert all(entry["at"] % 8 == 0 for entry in (part, row, small, header["maps"][1]))


@pytest.mark.parametrize(
    ("shape", "rows", "cols"),
    [((5, 7), (0, 4), (0, 7)), ((5, 7), (0, 5), (3, 3)), ((5, 7), (-1, 4), (0, 7))],
)
def test_a_map_fits_its_range(shape: tuple[int, int], rows, cols):
    with pytest.raises(ValueError, match="expected a map"):
        Map(0, 0, np.zeros(shape, np.float32), rows, cols)


@pytest.mark.parametrize(("site", "head"), [(-1, 0), (0, -1), (0, "median")])
def test_a_place_is_checked(site: int, head: int | str):
    with pytest.raises(ValueError, match="expected a site"):
        Map(site, head, np.zeros((1, 1), np.float32), (0, 1), (0, 1))


def test_a_row_is_one_axis_of_finite_numbers():
    with pytest.raises(ValueError, match="'column'"):
        Row(0, 0, "column", 0, np.zeros(3))
    with pytest.raises(ValueError, match="1-D"):
        Row(0, 0, "key", 0, np.zeros((3, 5)))
    with pytest.raises(ValueError, match="NaN"):
        Row(0, 0, "key", 0, np.array([np.nan]))
    with pytest.raises(ValueError, match="expected"):
        Thumbs(np.zeros((3, 5, 7)))


def test_thumbs_of_unequal_sites_are_filled_up_and_their_means_come_last():
    rng = np.random.default_rng(0)
    small, large = rng.random((4, 3, 7)), rng.random((5, 11, 2))  # two and three heads
    weights = Thumbs.of([small, large]).weights
    assert weights.shape == (2, 5, 11, 7)
    np.testing.assert_array_equal(weights[0, :2, :3], small[:2].astype(np.float32))
    np.testing.assert_array_equal(weights[0, 3:, :3], small[2:].astype(np.float32))
    np.testing.assert_array_equal(weights[1, :, :, :2], large.astype(np.float32))
    assert weights.sum() == pytest.approx(small.sum() + large.sum())  # nothing but zeros elsewhere
