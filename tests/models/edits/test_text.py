"""Edits as text and as sentences."""

import json
import re
from typing import Any

import pytest

from models.edits import Ablate, Cover, Cut, Reference, SetWeights, Temperature, UsePattern
from models.edits.text import (
    MAX_EDITS,
    MAX_TEXT,
    edit_of,
    edit_values,
    format_edits,
    parse_edits,
)
from tests.models.edits.plain import CASES

EVERY: list[Any] = [
    *(case.make(1, "causal") for case in CASES.values()),
    Ablate(18, 6),
    Ablate(None, None, "shuffled", seed=3, tower="encoder", module="encoder.layers.3", part=1),
    Ablate(2, (), "noise"),
    Cut(2, None, None, (0, 1, 2)),
    Cut(2, (1,), 4, None),
    Cover((1, 5), "blur"),
    Temperature(1e-7),
    Temperature(3, 2, (0, 1)),
    SetWeights(1, 2, 3, None, (0.25, 0.75), False, kind="cross"),
    UsePattern(0, 1, 3),
    UsePattern(None, None, "shift", -12),
]


def test_edits_come_back_from_their_text() -> None:
    text = format_edits(EVERY)
    assert parse_edits(text) == tuple(EVERY)
    assert parse_edits("") == ()
    assert parse_edits(f"\n {text},\n") == tuple(EVERY)
    assert text.startswith("Ablate(1, (0, 2), how='mean', kind='causal')")


def test_edits_come_back_from_their_values_through_json() -> None:
    for edit in EVERY:
        assert edit_of(json.loads(json.dumps(edit_values(edit)))) == edit
    assert edit_values(Cut(2, None, 4, (0, 1))) == (
        {"edit": "Cut", "layer": 2, "head": None, "query": 4, "key": [0, 1]}
    )


@pytest.mark.parametrize(
    "values",
    [
        None,
        {"edit": "Nothing"},
        {"edit": []},
        {"edit": "Ablate", "layer": 1},
        {"edit": "Ablate", "layer": "x", "head": 0},
        {"edit": "Patch", "layer": 0, "what": "head", "source": "else"},
    ],
)
def test_bad_values_are_one_line(values: Any) -> None:
    with pytest.raises(ValueError, match=r"^edits: [^\n]+$"):
        edit_of(values)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (
            Ablate(18, 6),
            "Layer 18, head 6: values become zero, which the model never saw; the average is"
            " gentler.",
        ),
        (
            Ablate(None, (0, 2), "mean", kind="cross"),
            "Every layer (cross attention), heads 0 and 2: values become their mean over the item's"
            " tokens.",
        ),
        (Cut(2, None, 4, (0, 1)), "Layer 2, every head: query 4 cannot attend to keys 0 and 1."),
        (
            Cut(0, 1, None, tuple(range(20))),
            "Layer 0, head 1: every query cannot attend to keys 0, 1, 2, 3, 4, 5 and 14 more.",
        ),
        (
            Temperature(0.5, 3),
            "Layer 3, every head: scores are divided by 0.5, which makes weights sharper.",
        ),
        (
            SetWeights(1, 2, 3, 4, 0.5),
            "Layer 1, head 2: query 3 gives key 4 the weight 0.5; the row keeps its sum.",
        ),
        (Cover((1, 5), "blur"), "Input: patches 1 and 5 are blurred."),
        (Cover(None), "Input: every patch is set to the mean colour of the picture."),
        (UsePattern(1, 2, 0), "Layer 1, head 2: each token attends as in head 0."),
        (
            UsePattern(1, 2, "shift"),
            "Layer 1, head 2: each token attends to the one before it alone.",
        ),
        (
            UsePattern(1, 2, "shift", -3),
            "Layer 1, head 2: each token attends to the one 3 places after it alone.",
        ),
    ],
)
def test_sentences(edit: Any, sentence: str) -> None:
    assert edit.describe() == sentence


def test_a_reference_set_is_written_by_its_name() -> None:
    over = Reference("ten sentences", 40, {})
    edit = Ablate(3, 1, "mean", over=over)
    text = format_edits([edit])
    assert text == "Ablate(3, 1, how='mean', over='ten sentences')"
    assert parse_edits(text, {"ten sentences": over}) == (edit,)
    assert edit.describe().endswith("values become their mean over “ten sentences”.")
    with pytest.raises(ValueError, match=r"over: expected none that is named here, received 'ten"):
        parse_edits(text)
    with pytest.raises(ValueError, match="its over has no name that can be written"):
        format_edits([Ablate(3, 1, "mean", over=Reference("<b>", 1, {}))])


@pytest.mark.parametrize(
    "text",
    [
        *("x", "1", "Ablate", "Ablate(1", "Ablate()", "Ablate(1, 2, bad=3)", "__import__('os')"),
        *("Ablate('x', 0)", "Ablate(1, 0, 'how')", "Ablate(1, [0])", "Ablate(1, 0, **{})"),
        *("Ablate(1j, 0)", "Ablate(1, True)", "Ablate(*3)", "Ablate(1, 0)\\", "Ablate(1, 0); Cut"),
        *("Temperature('a')", "Temperature(-1)", "Temperature(1e999)", "1(2)", "a.Ablate(1, 0)"),
        *("Ablate(1, 0, layer=2)", "Ablate(1, 0, how='mean', over=('a',))", "Ablate(1, (0, 'a'))"),
        *("Reference('a', 1, 2)", "Ablate(x, 0)", "Ablate(1, 0 if 1 else 2)", "Ablate(1, 0, 'zero"),
        *("(" * 3000, "-" * 2000 + "1", "Ablate(" + "-" * 2000 + "1, 0)", "Ablate(1, (" * 200),
        *("Ablate(1, 0)," * (MAX_EDITS + 1), "Ablate(1, 0)\0", "Ablate(1, 0)" + " " * MAX_TEXT),
    ],
    ids=lambda text: text[:24],
)
def test_bad_text_gives_one_clear_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^edits: ") as caught:
        parse_edits(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_name_that_is_no_edit_is_answered_with_those_that_are() -> None:
    names = "Ablate, AblateMLP, Cover, Patch, Cut, Temperature, SetWeights, UsePattern"
    expected = f"edits: expected one of {names}, received 'Evict(8, sinks=1)'"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        parse_edits("Evict(8, sinks=1)")


def test_an_edit_of_ones_own_has_no_text() -> None:
    class Ablate:
        def describe(self) -> str:
            return ""

    with pytest.raises(ValueError, match="expected an edit of Ablate"):
        format_edits([Ablate()])
