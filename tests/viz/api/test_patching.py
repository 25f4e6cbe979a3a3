"""States patched in from a second text: the answer against passes."""

import numpy as np
import pytest

from analysis.effects import Logit, Towards
from analysis.sweep import state_sweep
from models.edits import Patch
from models.request import Picture, TraceRequest
from models.run import load, trace
from tests.fetched import fetched
from tests.viz.api.asking import ask
from tests.viz.api.catalogue import TEXT, entry_of
from viz.api import samples, tracing
from viz.api.endpoint import QuestionError

SECOND = "the cats saw the dog"


def test_every_state_of_a_second_text() -> None:
    entry, model = entry_of(), load("grammar-next")
    rough = ask(entry, "patched", SECOND)
    answer = ask(entry, "patched", SECOND, top=3)
    assert rough["exact"] is None
    assert rough["attribution"] == answer["attribution"]
    differ = [
        i
        for i, pair in enumerate(zip(answer["labels"], answer["second"], strict=True))
        if pair[0] != pair[1]
    ]
    assert len(differ) == 1
    plain = entry.trace.output.values[0, -1]
    swept = state_sweep(model, TEXT, SECOND, measure=Logit(int(plain.argmax())), top=3)
    for name, expected in (("attribution", swept.attribution), ("exact", swept.exact)):
        found = np.array(answer[name], float)  # None is no number
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-4)


@pytest.mark.parametrize(
    ("entry", "second", "why"),
    [
        ({}, "the cat", "the same number of tokens"),
        ({"name": "reverse", "text": "a b c"}, "a b d", ""),
    ],
)
def test_what_cannot_be_patched_is_said(entry, second: str, why: str) -> None:
    answer = ask(entry_of(**entry), "patched", second)
    assert why in answer.get("why", "")


def pictured(name: str, *photos: str):
    """Traces of pictures, with what was traced."""
    source = tracing.of_catalogue(name)
    requests = [TraceRequest(source, Picture(samples.file(each))) for each in photos]
    held = [tracing.entry_for(each) for each in requests]
    return held, tracing.opened(source), [tracing.arguments(each)[1] for each in requests]


def test_every_state_of_a_second_picture_with_classes() -> None:
    (first, second), model, (pixels, others) = pictured("digits", *[*samples.samples("digits")][:2])
    answer = ask(first.value, "states", second.id, top=3)
    assert answer["number"] == "logit"
    measure = Logit(int(first.value.trace.output.values[0].argmax()))
    swept = state_sweep(model, pixels, trace(model, others, hidden=True), measure=measure, top=3)
    found = np.array(answer["exact"], float)
    np.testing.assert_allclose(found, swept.exact.numpy(), atol=1e-3)


@pytest.mark.long
def test_states_of_a_second_picture_move_the_class_token_to_it() -> None:
    fetched("dinov2")
    (first, second), model, (pixels, others) = pictured("dinov2", "flower", "china")
    answer = ask(first.value, "states", second.id, top=2)
    assert (answer["number"], answer["name"]) == ("share", "class token")
    begin, end = (each.value.trace.output.values[0, 0].double() for each in (first, second))
    other = trace(model, others, hidden=True)
    for layer, row in enumerate(answer["exact"]):
        for token, value in enumerate(row):
            if value is None:
                continue
            edits = [Patch(layer, "hidden", other, token=token)]
            state = trace(model, pixels, edits=edits).output.values[0, 0].double()
            share = (state - begin) @ (end - begin) / (end - begin).square().sum()
            assert value == pytest.approx(float(share), abs=1e-3)
    every = trace(model, pixels, edits=[Patch(0, "hidden", other)])
    assert Towards(first.value.trace, other, 0)(every) == pytest.approx(1, abs=1e-5)


def test_a_picture_through_another_network_is_no_source() -> None:
    (first,), _, _ = pictured("digits", next(iter(samples.samples("digits"))))
    (second,), _, _ = pictured("shapes", next(iter(samples.samples("shapes"))))
    assert "the same network" in ask(first.value, "states", second.id)["why"]
    with pytest.raises(QuestionError, match="no longer held"):
        ask(first.value, "states", "unknown")
