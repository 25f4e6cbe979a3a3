"""States patched in from a second text: the answer against passes."""

import pytest

from models.edits import Ablate, Patch
from models.request import Chat, TraceRequest
from models.run import load, trace
from tests.fetched import fetched
from viz.api import patching, tracing
from viz.api.requests import QuestionError

TEXT, SECOND = "the cat saw the dog", "the cats saw the dog"


def entry_of(name="grammar-next", text=TEXT, edits=()):
    request = TraceRequest(tracing.of_catalogue(name), text, None, edits=edits)
    return tracing.entry_for(request).value


def test_every_state_of_a_second_text() -> None:
    entry, model = entry_of(), load("grammar-next")
    rough = patching.patched(entry, "", SECOND)
    answer = patching.patched(entry, "", SECOND, top=3)
    assert rough["exact"] is None
    assert rough["attribution"] == answer["attribution"]
    differ = [
        i
        for i, pair in enumerate(zip(answer["labels"], answer["second"], strict=True))
        if pair[0] != pair[1]
    ]
    assert len(differ) == 1
    plain = entry.trace.output.values[0, -1]
    id, other = int(plain.argmax()), trace(model, SECOND, hidden=True)
    patched = 0
    for layer, row in enumerate(answer["exact"]):
        for token, value in enumerate(row):
            if value is None:
                continue
            patched += 1
            edits = [Patch(layer, "hidden", other, token=token)]
            logit = trace(model, TEXT, edits=edits).output.values[0, -1, id]
            assert value == pytest.approx(float(logit - plain[id]), abs=1e-4)
    assert patched == 3


@pytest.mark.parametrize(
    ("entry", "second", "why"),
    [
        ({}, "the cat", "the same number of tokens"),
        ({"name": "reverse", "text": "a b c"}, "a b d", ""),
    ],
)
def test_what_cannot_be_patched_is_said(entry, second: str, why: str) -> None:
    answer = patching.patched(entry_of(**entry), "", second)
    assert why in answer.get("why", "")


def test_states_are_patched_into_the_pass_without_edits() -> None:
    edited = patching.patched(entry_of(edits=(Ablate(0, 0),)), "", SECOND, top=2)
    assert edited == patching.patched(entry_of(), "", SECOND, top=2)


@pytest.mark.long
def test_a_second_text_is_read_in_the_chat_template_too() -> None:
    fetched("smollm2")
    source = tracing.of_catalogue("smollm2")
    first, second = "Say a red word.", "Say a blue word."
    requests = [TraceRequest(source, Chat(text)) for text in (first, second)]
    entry = tracing.entry_for(requests[0]).value
    answer = patching.patched(entry, "", second)
    assert answer["second"] == list(tracing.entry_for(requests[1]).value.trace.labels)
    differ = [mine != other for mine, other in zip(answer["labels"], answer["second"], strict=True)]
    assert sum(differ) == 1


def test_too_many_passes_are_refused() -> None:
    with pytest.raises(QuestionError, match="64"):
        patching.patched(entry_of(), "", SECOND, top=65)
