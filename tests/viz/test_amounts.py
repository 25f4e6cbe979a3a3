"""How amounts are written."""

import pytest

from viz.amounts import short


@pytest.mark.parametrize(
    ("value", "quantity", "text"),
    [
        (0, "parameters", "0"),
        (999, "parameters", "999"),
        (1_000, "flops", "1.00 k"),
        (109_482_240, "parameters", "109 M"),
        (22_347_251_712, "flops", "22.3 G"),
        (999_600, "parameters", "1.00 M"),
        (1_023, "memory", "1.00 KiB"),
        (1_536, "memory", "1.50 KiB"),
        (844 * 2**20, "memory", "844 MiB"),
    ],
)
def test_three_digits_and_a_unit(value, quantity, text):
    assert short(value, quantity) == text
