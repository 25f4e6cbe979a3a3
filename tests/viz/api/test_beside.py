"""Two traces of one text: which tokens are the same, and which heads are most alike."""

import pytest

from analysis.alike import alike
from models.request import TraceRequest
from models.run import load, trace
from tests.viz.api.asking import ask
from viz.api import tracing
from viz.api.endpoint import QuestionError
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
