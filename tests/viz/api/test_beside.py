"""Two results: texts that are compared, and the difference that edits make."""

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.alike import alike
from models.edits import Temperature
from models.request import Picture, Source, TraceRequest, built, file_of
from models.run import load, trace
from tests.viz.api.asking import ask
from tests.viz.pages.explore.explorer import file_of as picture_file
from viz import pack
from viz.api import tracing
from viz.api.endpoint import QuestionError, answered
from viz.api.registry import registry

TEXT = "the cats near the cabinet"


def held_of(name: str, text: str | tuple[str, str] = TEXT, *, words: bool = False):
    return tracing.entry_for(TraceRequest(tracing.of_catalogue(name), text), words=words)


@pytest.mark.parametrize("words", [False, True])
def test_tokens_are_found_by_their_characters(words: bool) -> None:
    first, second = held_of("grammar-next", words=words), held_of("minilm")
    answer = ask(first.value, "aligned", second.id)
    for name, model in (("first", "grammar-next"), ("second", "minilm")):
        (spans,) = answer[name]
        labels = trace(load(model), TEXT).labels
        assert len(spans) == len(labels)
        for label, span in zip(labels, spans, strict=True):
            assert (span is None) == label.startswith("[")
            if span is not None:
                assert (span[0], TEXT[span[1] : span[2]].strip()) == (0, label.strip())


def test_the_decoder_of_a_translator_has_a_text_of_its_own() -> None:
    both = held_of("dates", "May 3, 2001")
    answer = ask(both.value, "aligned", both.id)
    t = both.value.trace
    assert t.target_tokens is not None
    assert [len(each) for each in answer["second"]] == [len(t.tokens[0]), len(t.target_tokens[0])]


def test_the_overlap_of_a_head_with_every_head_of_the_second() -> None:
    first, second = held_of("grammar-next"), held_of("minilm")
    answer = ask(first.value, "likeness", 1, 0, second.id)
    expected = alike(first.value.trace, first.value.trace.sites[1], 0, trace(load("minilm"), TEXT))
    assert [len(row) for row in answer["overlap"]] == [12] * 6
    for row, values in enumerate(answer["overlap"]):
        assert values == pytest.approx(expected.overlap[row].tolist(), abs=1e-4)
    assert answer["best"] == [*expected.best(1)[0]]


def test_what_cannot_be_compared_is_said() -> None:
    first = held_of("grammar-next")
    with pytest.raises(QuestionError, match="no longer held"):
        ask(first.value, "aligned", "unknown")
    picture = registry.once(("no", "text"), lambda: 1)
    with pytest.raises(QuestionError, match="of a text"):
        ask(first.value, "aligned", picture.id)
    assert "one head" in ask(first.value, "likeness", 0, "mean", first.id)["why"]
    other = held_of("minilm", "quite another text")
    assert "nothing in common" in ask(first.value, "likeness", 0, 0, other.id)["why"]


OF_TEXT = TraceRequest(Source("catalogue", "grammar-next"), "the cat saw the dog")
OF_IMAGE = TraceRequest(
    built("vit", {"image": 32, "patch": 8, "heads": 2, "dim": 10, "depth": 2}),
    Picture(file_of(picture_file(), "mine.png")),
)
EDIT = (Temperature(0.2, 1),)


def entries(request: TraceRequest):
    request = replace(request, model=tracing.stamped(request.model))
    edited = tracing.entry_for(replace(request, edits=EDIT)).value
    plain = tracing.entry_for(request).value
    site = edited.trace.sites[1]
    return edited, plain, (edited.trace.weights(site) - plain.trace.weights(site)).numpy()


def floats(header, area):
    return np.frombuffer(area, np.float32, header["count"], header["at"])


def test_a_map_and_rows_of_a_text() -> None:
    edited, plain, expected = entries(OF_TEXT)
    header, area = pack.unpack(answered(edited, "map?site=1&head=0&values=difference"))
    (part,) = header["maps"]
    assert part["coding"] == "difference"
    cells = np.frombuffer(area, np.uint8, np.prod(part["shape"]), part["at"]).reshape(part["shape"])
    values = part["min"] + (part["max"] - part["min"]) * (cells - 1.0) / 254
    step = (part["max"] - part["min"]) / 254
    np.testing.assert_allclose(values, expected[0], atol=step)
    for axis, wanted in (("query", expected[0][3]), ("key", expected[0][:, 3])):
        path = f"row?site=1&head=0&axis={axis}&index=3&values=difference"
        header, area = pack.unpack(answered(edited, path))
        np.testing.assert_allclose(floats(header["rows"][0], area), wanted, atol=1e-6)
        assert header["rows"][0]["values"] == "difference"
    with pytest.raises(QuestionError, match="no edits"):
        answered(plain, "map?site=1&head=0&values=difference")


def test_the_weight_that_changed_most() -> None:
    """Only layer 1 is edited: the largest of its differences, and of the layers behind it."""
    edited, plain, _ = entries(OF_TEXT)
    every = [
        (edited.trace.weights(site) - plain.trace.weights(other)).numpy()
        for site, other in zip(edited.trace.sites, plain.trace.sites, strict=True)
    ]
    assert not every[0].any()
    found = json.loads(answered(edited, "changed"))["change"]
    site = max(range(len(every)), key=lambda index: np.abs(every[index]).max())
    place = np.unravel_index(np.abs(every[site]).argmax(), every[site].shape)
    assert [found[name] for name in ("site", "head", "query", "key")] == [site, *place]
    assert found["change"] == pytest.approx(every[site][place], abs=1e-6)
    with pytest.raises(QuestionError, match="no edits"):
        answered(plain, "changed")


@pytest.mark.parametrize("axis", ["query", "key"])
def test_all_heads_of_a_picture(axis: str) -> None:
    edited, _, expected = entries(OF_IMAGE)
    path = f"heads?site=1&axis={axis}&index=2&values=difference"
    header, area = pack.unpack(answered(edited, path))
    (row,) = header["rows"]
    wanted = expected[:, 2] if axis == "query" else expected[:, :, 2]
    np.testing.assert_allclose(floats(row, area).reshape(wanted.shape), wanted, atol=1e-6)
    assert row["values"] == "difference"
