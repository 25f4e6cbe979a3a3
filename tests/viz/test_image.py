"""Messages of the image view: what is sent is what was meant, and never too much."""

import numpy as np
import pytest

from viz.image import (
    BUDGET,
    Layer,
    Rows,
    cells,
    factor_for,
    message,
    pack_bits,
    quantise_rows,
)
from viz.pack import unpack


def unpacked(packed, count, bits):
    """Bit by bit, as slowly as can be."""
    text = "".join(f"{byte:08b}" for byte in packed.tobytes())
    return [int(text[i * bits : (i + 1) * bits], 2) for i in range(count)]


@pytest.mark.parametrize("bits", [6, 8])
@pytest.mark.parametrize("count", [1, 4, 7, 30])
def test_bits_come_back(bits, count):
    values = np.random.default_rng(0).integers(0, 2**bits, count).astype(np.uint8)
    assert unpacked(pack_bits(values, bits), count, bits) == values.tolist()


def test_rows_are_quantised_by_their_own_largest():
    weights = np.array([[[0.5, 0.125, 0.0], [0.01, 0.0025, 0.0]]], np.float32)
    quantised, maxima = quantise_rows(weights, 6)
    np.testing.assert_array_equal(quantised, [[[63, 32, 0], [63, 32, 0]]])
    np.testing.assert_array_equal(maxima, np.array([[0.5, 0.01]], np.float32))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.1])
def test_no_nonsense_is_quantised(bad):
    with pytest.raises(ValueError, match="finite"):
        quantise_rows(np.full((1, 2, 3), bad, np.float32), 8)


@pytest.mark.parametrize(
    ("heads", "grid", "prefix", "factor"),
    [(12, (14, 14), 1, 1), (6, (60, 60), 1, 4), (3, (14, 14), 0, 1), (16, (37, 53), 5, 4)],
)
def test_a_layer_fits_its_message(heads, grid, prefix, factor):
    assert factor_for(heads, grid, prefix) == factor
    count = cells(grid, prefix, factor)
    weights = np.random.default_rng(0).random((heads, count, count), np.float32)
    blob = message(trace="a", layers=[Layer(0, weights, factor)])
    assert len(blob) <= 400_000
    if factor > 1:
        assert heads * cells(grid, prefix, factor - 1) ** 2 * 6 / 8 > BUDGET


@pytest.mark.parametrize(("tokens", "bits"), [(11, 8), (197, 6)])
def test_a_layer_comes_back(tokens, bits):
    weights = np.random.default_rng(1).random((12, tokens, tokens), np.float32)
    header, area = unpack(message(trace="a", layers=[Layer(2, weights, 1)]))
    (layer,) = header["layers"]
    assert (layer["site"], layer["bits"]) == (2, bits)
    maxima = np.frombuffer(area, "<f4", 12 * tokens, layer["maxima"]).reshape(12, tokens)
    packed = np.frombuffer(area, np.uint8, offset=layer["at"])
    first = np.array(unpacked(packed, tokens, bits)) / (2**bits - 1)
    # half a step of the square-root scale at its steepest: 1/levels of the row's largest
    np.testing.assert_allclose(
        maxima[0, 0] * first**2, weights[0, 0], atol=maxima[0, 0] / (2**bits - 1)
    )


def test_exact_rows_come_back():
    weights = np.random.default_rng(2).random((3, 7), np.float32)
    header, area = unpack(message(trace="a", rows=[Rows(1, "key", 4, weights)]))
    (row,) = header["rows"]
    assert [row[name] for name in ("site", "head", "axis", "index")] == [1, "layer", "key", 4]
    sent = np.frombuffer(area, "<f4", row["count"], row["at"]).reshape(3, 7)
    np.testing.assert_array_equal(sent, weights)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="missing"):
        message(trace="a", base={"model": "x"})
    with pytest.raises(ValueError, match="axis"):
        Rows(0, "side", 0, np.zeros((1, 2), np.float32))
    with pytest.raises(ValueError, match="head, token"):
        Rows(0, "key", 0, np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="finite"):
        Rows(0, "key", 0, np.full((1, 2), np.nan, np.float32))
    with pytest.raises(ValueError, match="factor"):
        Layer(0, np.zeros((1, 2, 3), np.float32), 0)
