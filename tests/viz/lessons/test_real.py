"""What lessons take from pretrained models: stored for each state, and as the weights give it."""

import json
from typing import Any

import pytest
import torch

from models.catalogue import entry
from viz.api import figures, record
from viz.api.requests import QuestionError
from viz.lessons import course, real

REAL = [each.name for each in course.STORIES if each.real]


@pytest.mark.parametrize("name", REAL)
def test_every_step_and_button_has_numbers_without_the_model(name: str) -> None:
    for query in record.states(course.lesson(name)):
        json.dumps(figures.numbers(name, query)(), allow_nan=False)


def test_without_the_model_another_text_says_how_to_get_it() -> None:
    answer = figures.numbers("decoder", [("text", "A frog jumped")])
    with pytest.raises(QuestionError, match=r"SmolLM2.* models\.fetch smollm2 fetches it"):
        answer()


@pytest.mark.parametrize("name", REAL)
def test_stored_numbers_are_called_stored(name: str) -> None:
    told = [figures.numbers(name, query)() for query in record.states(course.lesson(name))]
    said = [each["computed"] for each in told if "computed" in each]
    assert said
    assert all(real.COMMAND in each for each in said)


@pytest.mark.parametrize("name", REAL)
def test_the_file_is_of_the_published_weights_and_holds_nothing_else(name: str) -> None:
    """No answer is left that no step or button asks for."""
    file = real.stored(name)
    assert file["models"] == {each: real.digest(entry(each)) for each in course.lesson(name).real}
    asked: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            real, "_stored", lambda lesson, call, model: asked.add(call) or file["answers"][call]
        )
        for query in record.states(course.lesson(name)):
            figures.numbers(name, query)()
    assert asked == set(file["answers"])


@pytest.mark.long
@pytest.mark.parametrize("name", REAL)
def test_stored_numbers_are_what_the_weights_give(name: str) -> None:
    missing = [each for each in course.lesson(name).real if not real.here(each)]
    if missing:
        pytest.skip(f"{', '.join(missing)}: not on this machine")
    with real.recording() as kept:
        for query in record.states(course.lesson(name)):
            figures.numbers(name, query)()
    answers = real.stored(name)["answers"]
    for call, answer in kept[name].items():
        assert near(json.loads(json.dumps(answer)), answers[call]), call


def near(a: Any, b: Any) -> bool:
    """Equal up to rounding, in float32 and in the file."""
    if isinstance(a, float):
        return abs(a - b) <= 1e-3 + 1e-3 * abs(b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(near(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(near, a, b))
    return a == b


@pytest.mark.long
def test_the_decoder_shows_what_transformers_computes() -> None:
    if not real.here("smollm2"):
        pytest.skip("smollm2: not on this machine")
    from transformers import AutoModelForCausalLM

    from models.catalogue import folder

    theirs = AutoModelForCausalLM.from_pretrained(
        folder(entry("smollm2")), attn_implementation="eager"
    ).eval()
    answers = real.stored("decoder")["answers"]
    for call, shown in answers.items():
        function, given = call.split("[", 1)
        if function != "read":
            continue
        ids, window, ahead, layer, head, _ = json.loads(f"[{given}")
        if window < len(ids) or ahead:
            continue
        with torch.no_grad():
            out = theirs(torch.tensor([ids]), output_attentions=True)
        weights = torch.tensor(shown["weights"])
        assert torch.allclose(out.attentions[layer][0, head], weights, atol=1e-4)
        best = out.logits[0].softmax(-1).max(-1).values
        assert torch.allclose(
            best, torch.tensor([row[0]["share"] for row in shown["best"]]), atol=1e-4
        )
