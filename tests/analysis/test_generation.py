"""Texts that models go on with: equal to the library's own.

Each step against a pass of its own is in tests/test_edits_everywhere.py.
"""

from typing import Any

import pytest
import torch
from transformers import GenerationConfig

from analysis.generation import continue_text, received
from analysis.outputs import likeliest
from models.decoder import DecoderConfig
from models.edits import Temperature
from models.encoder import EncoderConfig
from models.output import Sampling
from models.run import load
from models.seq2seq import Seq2SeqConfig
from tests.models.architectures import BY_NAME, GROUPED, build, ids
from tests.models.inputs.test_generation import HERE, RULES

SIZES: dict[str, Any] = {"dim": 30, "depth": 2, "heads": 3, "mlp": 17, "vocab": 31}
IDS = torch.randint(3, 31, (1, 6), generator=torch.Generator().manual_seed(2))
OWN = DecoderConfig(**SIZES, positions="rotary", tied=False, seed=5)
LIBRARY = ["GPT-2", "GPT-NeoX", "BioGPT", "Llama", "Mistral", "Gemma 2"]
COUNT = 9


def model_of(name: str) -> Any:
    if name == "Qwen2":
        return load(build("Qwen2ForCausalLM", "Qwen2Config", GROUPED))
    return load(OWN) if name == "own" else load(BY_NAME[name].build())


ALIKE = Temperature(1.0, 0)  # changes nothing, but has a pass of its own for each step


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", [*LIBRARY, "Qwen2"])
def test_the_text_is_what_the_library_writes(name: str, rule: str) -> None:
    model = model_of(name)
    settings = RULES[rule](list(continue_text(model, IDS, COUNT).ids))
    model.network.generation_config = GenerationConfig(**{**HERE, **settings})
    given = {"inputs": IDS, "attention_mask": torch.ones_like(IDS)}
    settings = {"max_new_tokens": COUNT, "do_sample": False, "num_beams": 1}
    settings |= {"output_scores": True, "return_dict_in_generate": True}
    expected = model.network.generate(**given, **settings)
    ids = expected.sequences[0].tolist()
    shares = [float(scores[0].softmax(-1).max()) for scores in expected.scores]
    for edits in ((), (ALIKE,)):
        found = continue_text(model, IDS, COUNT, edits=edits)
        assert list(found.ids) == ids[6:]
        assert found.probabilities == pytest.approx(shares[: len(found.ids)], abs=1e-5)
    assert found.trace.tokens[0].ids == tuple(ids)


def test_what_the_cache_receives_is_a_mean_over_heads() -> None:
    found = continue_text(load(OWN), IDS, COUNT)
    whole = received(found.trace, range(5, 5 + COUNT))
    assert whole.shape == (COUNT, 6 + COUNT)
    torch.testing.assert_close(whole.sum(1), torch.ones(COUNT))
    for step in range(COUNT):
        rows = torch.stack([found.trace.weights(layer, rows=[5 + step]) for layer in (0, 1)])
        torch.testing.assert_close(whole[step], rows.mean((0, 1))[0])
        assert not whole[step, 6 + step :].any()


def test_draws_follow_their_distribution() -> None:
    model = load(OWN)
    again = [continue_text(model, IDS, 4, sampling=Sampling(2.0), seed=3).ids for _ in range(2)]
    assert again[0] == again[1]
    others = {continue_text(model, IDS, 4, sampling=Sampling(2.0), seed=s).ids for s in range(6)}
    assert len(others) > 1
    few = Sampling(1.5, top_k=2)
    found = continue_text(model, IDS, COUNT, sampling=few, seed=1)
    for step, id in enumerate(found.ids):
        top = likeliest(found.trace, 5 + step, sampling=few)
        assert id in top.ids
        assert found.probabilities[step] == pytest.approx(
            top.probabilities[top.ids.index(id)], abs=1e-5
        )
    assert (
        continue_text(model, IDS, 3, sampling=Sampling(top_k=1)).ids
        == continue_text(model, IDS, 3).ids
    )


def test_writing_ends_at_the_end_and_where_there_is_no_room() -> None:
    model = load(OWN)
    whole = continue_text(model, IDS, COUNT)
    end = whole.ids[4]
    found = continue_text(model, IDS, COUNT, end=end)
    assert found.ids == whole.ids[: whole.ids.index(end) + 1]
    short = load(DecoderConfig(**SIZES, max_tokens=8))
    assert len(continue_text(short, IDS, COUNT).ids) == 2
    with pytest.raises(ValueError, match="with room for 0"):
        continue_text(short, torch.zeros(1, 8, dtype=torch.long), 1)


def test_what_does_not_write_is_refused() -> None:
    for wrong in (EncoderConfig(**SIZES), Seq2SeqConfig(dim=30, heads=3, depth=1, d_k=4, d_v=4)):
        with pytest.raises(ValueError, match="is no decoder"):
            continue_text(load(wrong), IDS, 3)
    with pytest.raises(ValueError, match="is no decoder"):
        continue_text(BY_NAME["T5"].build(), ids(1, 5), 3)
    model = load(OWN)
    with pytest.raises(ValueError, match="expected one text, received 2"):
        continue_text(model, IDS.repeat(2, 1), 3)
    with pytest.raises(ValueError, match="count: expected at least 1"):
        continue_text(model, IDS, 0)
