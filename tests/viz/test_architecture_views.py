"""The diagram's props, from plain numbers."""

import json

import pytest

from viz.architecture import base, short

PART = {
    "name": "a",
    "title": "<b>A</b>",
    "kind": "linear",
    "skips": "",
    "causal": False,
    "takes": [["tokens", 3]],
    "gives": [["tokens", 3], ["dim", 5]],
    "context": [],
    "parameters": 7,
    "flops": 11,
    "times": 2,
    "heading": "<b>A</b> × 2",
    "sentence": "A matrix.",
    "rows": [["In", "3 tokens"]],
    "source": 0,
    "parts": [],
}
SOURCE = {"file": "models/a.py", "line": 3, "code": "def a(): ..."}


def test_the_props_hold_the_parts_their_sources_and_both_modes():
    props = base([PART], [SOURCE], title="t")
    assert props["parts"] == [PART]
    assert props["sources"] == [SOURCE]
    assert props["title"] == "t"
    assert set(props["theme"]) == {"light", "dark"}
    assert json.loads(json.dumps(props)) == props


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
