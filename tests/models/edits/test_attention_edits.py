"""Edits of attention beside what each does by itself: rows, cells, and messages.

What each edit does to a pass, in every network, is in tests/test_edits_everywhere.py.
"""

from typing import Any

import pytest
import torch

from models.attention import Mask, Pattern
from models.edits import Ablate, Cut, Reference, SetWeights, Temperature, UsePattern
from models.run import trace
from tests.models.architectures import BY_NAME, normal, padded
from tests.models.edits.plain import NETWORKS, given, network, whole_row
from tests.models.tiny_models import Built, model, places_of, plain, source

ENCODER, DECODER = ((network(name), *given(name)) for name in ("encoder", "decoder"))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_whole_row(name: str) -> None:
    for place in places_of(name):
        site = plain(name).sites[place]
        case = whole_row(site.keys)
        with torch.no_grad():
            expected = Built(name, place, case.changes).run(source(name)).output
        edit = case.make(site.layer, site.kind)
        found = trace(model(name), *source(name), edits=[edit]).output.values
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_a_set_cell_that_takes_everything() -> None:
    """Over the row's sum, or with nothing left to share out, the row still sums to 1."""
    for edit, row, expected in (
        (SetWeights(1, 0, 3, 1, 5.0), 3, {1: 1.0}),
        (SetWeights(1, 0, 0, 0, 0.3), 0, {0: 1.0}),
        (SetWeights(1, 0, 3, (0, 1, 2), 0.0), 3, {3: 1.0}),
        (SetWeights(1, 0, 3, (0, 2), (0.9, 0.3)), 3, {0: 0.75, 2: 0.25}),
    ):
        found = trace(*DECODER, edits=[edit]).weights(1, 0)[row]
        wanted = torch.zeros_like(found)
        for key, value in expected.items():
            wanted[key] = value
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-6)
    moved = [SetWeights(1, 0, 3, 3, 1.0), SetWeights(1, 0, 3, 3, 0.4)]
    found = trace(*DECODER, edits=moved).weights(1, 0)[3]
    torch.testing.assert_close(found[:4], torch.tensor([0.2, 0.2, 0.2, 0.4]), rtol=0, atol=1e-6)


def test_a_pattern_replaced_is_that_before_other_edits_of_weights() -> None:
    """Another head's weights are those of its softmax, temperatures and cuts included."""
    cut = Cut(1, 1, None, 2)
    edits = [UsePattern(1, 1, "uniform"), UsePattern(1, 0, 1), cut]
    found, expected = (trace(*ENCODER, edits=each) for each in (edits, [cut]))
    assert found.weights(1, 0).equal(expected.weights(1, 1))


def test_a_key_is_counted_among_an_item_s_own() -> None:
    """Where padding is in front, and the mask hides none of it."""
    q, k = normal(2, 3, 4, 7), normal(2, 3, 5, 7)
    padding = torch.tensor([[False] * 5, [True] * 2 + [False] * 3])
    edited = Cut(0, None, None, 1).edit_recipe(Pattern(q, k, k, Mask(key_padding=padding)))
    item, key = (edited.weights() == 0).all((1, 2)).nonzero().T
    assert (item.tolist(), key.tolist()) == ([0, 1], [1, 3])


def test_a_reference_is_the_mean_over_tokens_without_padding() -> None:
    given = padded(2, 11, 4, left=True)
    t = trace(BY_NAME["Llama"].build(), given)
    over = Reference.of("both", t)
    assert over.tokens == 11 + 7
    for site in t.sites:
        rows = []
        for item, first in enumerate((0, 4)):
            v = t.pattern(site).v[item, :, first:].repeat_interleave(3, 0)
            rows.append(t.weights(site, item=item) @ v)
        expected = torch.cat(rows, 1).mean(1)
        torch.testing.assert_close(over.mean(site.where), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ablate(True, 0), "layer: expected a whole number or None, received True"),
        (lambda: SetWeights(0, 0, 0, 0, -0.1), "value: expected 0 or more in a row that keeps"),
        (lambda: SetWeights(0, 0, 0, (0, 1), (1.0,)), "value: expected one number, or 2, one for"),
        (lambda: SetWeights(0, 0, 0, 0, float("nan")), "value: expected a number, received nan"),
        (lambda: Temperature(0.0), "temperature: expected a number above 0, received 0.0"),
        (lambda: Temperature(float("nan")), "temperature: expected a number above 0, received nan"),
        (lambda: Cut(0, 0, 0, 0, kind="casual"), "kind: expected self, causal, cross or None, rec"),
        (lambda: Reference.of("", []), "expected a name and at least one trace"),
    ],
)
def test_arguments_that_make_no_edit(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Ablate(3, 0), "layer: expected 0 to 2, received 3"),
        (Cut(-1, 0, 0, 0), "layer: expected 0 to 2, received -1"),
        (Ablate(0, 3), "head: expected 0 to 2, received 3"),
        (Temperature(2.0, None, (1, -1)), "head: expected 0 to 2, received -1"),
        (Cut(0, None, 7, 0), "query: expected 0 to 6, received 7"),
        (Cut(0, None, 0, (3, 8)), "key: expected 0 to 6, received 8"),
        (SetWeights(1, 0, 7, 0, 0.5), "query: expected 0 to 6, received 7"),
        (SetWeights(1, 0, 0, 9, 0.5), "key: expected 0 to 6, received 9"),
        (SetWeights(1, 0, 0, None, (0.5,)), "value: expected one number, or 7, one for each key"),
        (UsePattern(1, 0, 3), "head: expected 0 to 2, received 3"),
        (UsePattern(1, 3, "uniform"), "head: expected 0 to 2, received 3"),
    ],
)
def test_places_that_are_not_there(edit: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trace(*ENCODER, edits=[edit])


def test_queries_that_are_not_keys() -> None:
    pair = (network("translator"), *given("translator"))
    with pytest.raises(ValueError, match="expected queries that are keys as well"):
        trace(*pair, edits=[UsePattern(1, 0, "identity", kind="cross")])
