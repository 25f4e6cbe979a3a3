"""Which heads and states an output needs: the answers against sweeps and passes."""

import numpy as np
import pytest

from analysis.effects import Logit, Towards
from analysis.sweep import checked_sweep, state_sweep
from models.edits import Ablate, Patch
from models.request import Picture, TraceRequest
from models.run import load, trace
from tests.fetched import fetched
from tests.viz.api.asking import TEXT, ask, entry_of
from viz.api import samples, tracing
from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry


def test_heads_are_ranked_by_attribution_then_switched_off_one_by_one() -> None:
    entry, model = entry_of(), load("grammar-next")
    rough = ask(entry, "matters", 0, "")
    exact = ask(entry, "matters", 0, "", top=4)
    assert rough["attribution"] == exact["attribution"]
    assert rough["exact"] is None
    measure = Logit(int(entry.trace.output.values[0, -1].argmax()))
    swept = checked_sweep(model, TEXT, edit=Ablate, measure=measure, top=4)
    for name, expected in (("attribution", swept.attribution), ("exact", swept.exact)):
        found = np.array(exact[name], float)  # None is no number
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-4)


def test_the_kind_of_the_chosen_layer_is_swept() -> None:
    entry = entry_of("reverse", "a b c")
    kinds = {site.kind for site in entry.trace.sites}
    for kind in kinds:
        site = next(n for n, each in enumerate(entry.trace.sites) if each.kind == kind)
        answer = ask(entry, "matters", site, off="mean")
        assert {entry.trace.sites[each].kind for each in answer["sites"]} == {kind}


def test_a_sweep_is_of_the_pass_without_edits() -> None:
    edited = ask(entry_of(edits=(Ablate(0, 0),)), "matters", 0, top=2)
    assert edited == ask(entry_of(), "matters", 0, top=2)


def with_photo(name: str) -> TraceEntry:
    """A network's trace of a picture of its own, or of a photo."""
    file = samples.file(next(iter(samples.samples(name) or samples.PHOTOS)))
    return tracing.entry_for(TraceRequest(tracing.of_catalogue(name), Picture(file))).value


def test_without_logits_a_sweep_tells_how_far_the_embedding_moves() -> None:
    minilm, digits = entry_of("minilm"), with_photo("digits")
    assert "parts" not in ask(minilm, "refused")
    for entry, number, name in ((minilm, "distance", "tokens"), (digits, "logit", "3")):
        answer = ask(entry, "matters", 0, top=3)
        assert (answer["number"], answer["name"]) == (number, name)
        exact = [value for row in answer["exact"] for value in row if value is not None]
        assert len(exact) == (72 if number == "distance" else 3)


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
