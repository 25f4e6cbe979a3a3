"""Traces kept while a model writes: equal to one pass over the prompt with its answer."""

from pathlib import Path
from typing import Any

import pytest
import torch

from models.attention import Mask, Pattern
from models.edits import Ablate
from models.inputs.prompt import Prompt
from models.model import Model
from models.pretrained import run
from models.run import load, trace
from models.trace import Trace
from tests.models.pretrained.tiny import BY_NAME, normal
from tests.models.vision_language import BY_NAME as FAMILIES
from tests.models.vision_language import VOCAB, photo, tokenizer

QUESTION = "what is on the picture ? a dog sits here"
MOST = 7
ROUNDING = 1e-5
WIDE = 2e-5  # PaliGemma's scores reach hundreds
TEXTS = ("GPT-2", "GPT-NeoX", "BioGPT", "Llama", "Mistral", "Gemma 2", "GPT-OSS", "DeepSeek-V3")
PICTURES = sorted(FAMILIES.keys() - {"BLIP-2", "Florence-2"})
ENCODER_DECODERS = ("BART", "Pegasus", "Whisper")


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which recorded passes over a whole text ran."""
    ran: list[str] = []
    record_pass = run.record_pass

    def counted(model: Model, *given: Any, **options: Any) -> Any:
        ran.append(model.name)
        return record_pass(model, *given, **options)

    monkeypatch.setattr(run, "record_pass", counted)
    return ran


def text_model(name: str) -> Model:
    """A tiny decoder of the library with a tokenizer of words."""
    family = BY_NAME[name]
    sizes = {**family.sizes, "vocab_size": VOCAB}
    return load(type(family)(**{**vars(family), "sizes": sizes}).build(), tokenizer=tokenizer())


def check_equal(found: Trace, expected: Trace, rounding: float = ROUNDING) -> None:
    assert found.tokens[0].ids == expected.tokens[0].ids
    assert found.sites == expected.sites
    assert found.answer == expected.answer
    for site in found.sites:
        assert found.query_labels(site) == expected.query_labels(site)
        assert found.key_labels(site) == expected.key_labels(site)
        weights, reference = found.weights(site), expected.weights(site)
        torch.testing.assert_close(weights, reference, rtol=0, atol=rounding)
        mask, rule = found.pattern(site).mask, expected.pattern(site).mask
        assert (mask.causal, mask.window) == (rule.causal, rule.window)
        assert (mask.dense is None) == (rule.dense is None)
        for grid, other in zip(found.key_pictures(site), expected.key_pictures(site), strict=True):
            assert grid.places.equal(other.places)
    assert found.output.values.shape == expected.output.values.shape
    largest = float(expected.output.values.abs().max())
    torch.testing.assert_close(
        found.output.values, expected.output.values, rtol=0, atol=rounding * largest
    )


def answer_of(found: Trace) -> torch.Tensor:
    return torch.tensor([found.tokens[0].ids[found.answer :]], dtype=torch.long)


@pytest.mark.parametrize("name", TEXTS)
def test_an_answer_in_text_has_the_maps_of_one_pass(name: str, passes: list[str]) -> None:
    """Windows of four tokens, grouped heads, sinks, caps and heads of two widths among them."""
    model = text_model(name)
    found = trace(model, Prompt(QUESTION, most_written=MOST))
    assert not passes
    assert answer_of(found).shape == (1, MOST)
    check_equal(found, trace(model, Prompt(QUESTION), answer_of(found)))
    assert passes


@pytest.mark.parametrize("name", PICTURES)
def test_an_answer_about_a_picture_has_the_maps_of_one_pass(
    name: str, tmp_path: Path, passes: list[str]
) -> None:
    model = load(str(FAMILIES[name].save(tmp_path)))
    asked = Prompt(QUESTION, (photo(),), most_written=MOST)
    found = trace(model, asked)
    assert not passes
    check_equal(found, trace(model, asked, answer_of(found)), WIDE)


def source_of(name: str) -> tuple[Model, dict[str, torch.Tensor]]:
    """An encoder–decoder of the library, and one item for its encoder."""
    family = BY_NAME[name]
    given = {arg: value[:1] for arg, value in family.inputs().items() if "decoder" not in arg}
    return load(family.build()), given


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_a_target_that_is_written_has_the_maps_of_one_pass(name: str, passes: list[str]) -> None:
    model, given = source_of(name)
    found = trace(model, given)
    assert not passes
    assert found.target_tokens is not None
    ids = found.target_tokens[0].ids
    assert len(ids) > MOST
    whole = trace(model, given, torch.tensor([[*ids[1:], 0]]))  # the last one is not read
    assert passes
    assert whole.target_tokens is not None
    assert whole.target_tokens[0].ids == ids
    check_equal(found, whole)
    # each token is the likeliest after those before it, by one pass over all of them
    assert whole.output.values[0, :-1].argmax(-1).tolist() == list(ids[1:])


def test_a_target_that_ends_is_read_to_its_end(passes: list[str]) -> None:
    model, given = source_of("Whisper")
    written = trace(model, given).target_tokens
    assert written is not None
    *_, end = ids = list(dict.fromkeys(written[0].ids[1:]))
    model.network.generation_config.eos_token_id = end
    ended = trace(model, given)
    assert ended.target_tokens is not None
    assert list(ended.target_tokens[0].ids) == list(written[0].ids[: written[0].ids.index(end)])
    assert int(ended.output.values[0, -1].argmax()) == end
    assert "cut off" not in " ".join(ended.notes)
    model.network.generation_config.eos_token_id = ids[0]
    none = trace(model, given)
    assert none.target_tokens is not None
    assert len(none.target_tokens[0].ids) == 1
    assert not passes


def test_distances_and_batches_take_a_pass_over_the_whole_target(passes: list[str]) -> None:
    """T5 adds a bias by distance to its scores."""
    model, given = source_of("T5")
    trace(model, given)
    assert passes == [model.name]
    model, given = source_of("BART")
    alone = trace(model, given).target_tokens
    several = trace(model, {name: value.repeat(2, 1) for name, value in given.items()})
    assert len(passes) == 2
    assert alone is not None
    assert several.target_tokens is not None
    assert [each.ids for each in several.target_tokens] == [alone[0].ids] * 2


def test_fewer_logits_are_those_of_the_last_tokens(passes: list[str]) -> None:
    model, asked = text_model("Llama"), Prompt(QUESTION, most_written=MOST)
    for count in (1, 3, MOST + 2):
        found = trace(model, asked, logits_to_keep=count)
        assert found.output.values.shape[1] == count
        whole = trace(model, asked).output
        assert found.output.first == len(found.labels) - count
        torch.testing.assert_close(found.output.values, whole.values[:, -count:])
    assert not passes


def test_an_answer_that_ends_is_read_to_its_end(passes: list[str]) -> None:
    model = text_model("Llama")
    asked = Prompt(QUESTION, most_written=MOST)
    written = answer_of(trace(model, asked))[0].tolist()
    stop = next(place for place in range(1, MOST) if written[place] not in written[:place])
    for end in (written[0], written[stop]):
        model.network.generation_config.eos_token_id = end
        found = trace(model, asked)
        assert answer_of(found)[0].tolist() == written[: written.index(end)]
        assert "cut off" not in " ".join(found.notes)
        check_equal(found, trace(model, asked, answer_of(found)))
    model.network.generation_config.eos_token_id = None
    assert "cut off after 7 tokens" in " ".join(trace(model, asked).notes)


def test_an_answer_goes_to_the_last_place_of_the_model(passes: list[str]) -> None:
    model = text_model("GPT-2")
    found = trace(model, Prompt(QUESTION, most_written=64))
    assert len(found.labels) == model.limit
    assert not passes


def test_edits_gradients_and_hidden_states_take_a_pass_of_their_own(passes: list[str]) -> None:
    """The answer is written without the edits."""
    model, asked = text_model("Llama"), Prompt(QUESTION, most_written=MOST)
    plain = trace(model, asked)
    edited = trace(model, asked, edits=[Ablate(0, 1)])
    assert edited.tokens[0].ids == plain.tokens[0].ids
    trace(model, asked, hidden=True)
    assert len(passes) == 2


def test_the_network_is_left_as_it_was() -> None:
    model, asked = text_model("Llama"), Prompt(QUESTION, most_written=MOST)
    network = model.network
    before = network.config._attn_implementation, network(torch.tensor([[3, 4, 5]])).logits
    trace(model, asked)
    with pytest.raises(StoppedError):
        trace(model, asked, progress=_stop)
    assert network.config._attn_implementation == before[0]
    assert network(torch.tensor([[3, 4, 5]])).logits.equal(before[1])
    assert not any(module._forward_hooks for module in network.modules())
    assert not any(module._forward_pre_hooks for module in network.modules())


class StoppedError(RuntimeError):
    """A pass is not wanted any more."""


def _stop(done: int, total: int) -> None:
    raise StoppedError


# --- masks --------------------------------------------------------------------------------------

BEFORE, HEADS, DIM = 5, 3, 2


def recipe(mask: Mask) -> Pattern:
    q, k, v = (normal(1, HEADS, BEFORE, DIM, seed=seed) for seed in range(3))
    return Pattern(q, k, v, mask=mask)


def rule_of(pattern: Pattern) -> tuple[bool, int | None, bool]:
    mask = pattern.mask
    return mask.causal, mask.window, mask.dense is None and mask.padding is None
