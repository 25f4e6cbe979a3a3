"""The figure on sampling: transformers' processors and model, and costs by hand."""

from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from models.catalogue import entry, folder
from models.decoder import DecoderConfig
from models.lessons.sampling import step_cost
from tests.fetched import fetched
from viz.api import figures
from viz.lessons import real
from viz.lessons.sampling.real import HEAD, LAYER, SIZES

START = "The capital of France is"
NO_IDS: Any = None  # what was written before, which the processors do not read


def numbers(**changes: object) -> dict[str, Any]:
    return figures.numbers("sampling", [(name, str(each)) for name, each in changes.items()])()


def stored(function: str) -> dict[str, Any]:
    answers = real.stored("sampling")["answers"]
    (answer,) = (answers[call] for call in answers if call.startswith(f"{function}["))
    return answer


@pytest.mark.parametrize(
    ("temperature", "k", "p"), [(1, 0, 1), (0.3, 0, 1), (3, 3, 1), (3, 0, 0.9), (2, 7, 0.8)]
)
def test_the_probabilities_are_those_of_the_library(temperature: float, k: int, p: float) -> None:
    found = numbers(temperature=temperature, k=k, p=p)
    logits = torch.tensor([stored("logits")["logits"]])
    best = logits[0].argsort(descending=True)
    scores = TemperatureLogitsWarper(float(temperature))(NO_IDS, logits)
    warm = scores[0].softmax(-1)
    if k:
        scores = TopKLogitsWarper(k)(NO_IDS, scores)
    together = scores[0].softmax(-1)[best].cumsum(0)
    if p < 1:
        scores = TopPLogitsWarper(p)(NO_IDS, scores)
    drawn = scores[0].softmax(-1)
    assert found["plain"] == pytest.approx(logits[0].softmax(-1)[best[:10]].tolist(), rel=1e-4)
    assert found["warm"] == pytest.approx(warm[best[:10]].tolist(), rel=1e-4)
    assert found["drawn"] == pytest.approx(drawn[best[:10]].tolist(), rel=1e-4)
    assert found["together"] == pytest.approx(together[:10].tolist(), rel=1e-4)
    assert found["others"]["warm"] == pytest.approx(warm[best[10:]].sum().item(), rel=1e-4)
    assert found["kept"] == int((drawn > 0).sum())
    assert found["cut"] == pytest.approx(warm[drawn == 0].sum().item(), rel=1e-4, abs=1e-7)


def test_cached_keys_and_values_do_not_change() -> None:
    short, long = numbers(), numbers(written=1)
    count = len(short["tokens"])
    assert long["tokens"][:count] == short["tokens"]
    assert long["tokens"][count] == short["following"] == "Paris"
    assert (long["keys"][:count], long["values"][:count]) == (short["keys"], short["values"])
    for each in (short, long):
        assert sum(each["weights"]) == pytest.approx(1, abs=1e-4)
        assert len(each["weights"]) == len(each["tokens"])
    assert 0 <= short["difference"] < 1e-4  # rounding in single precision


def test_grouped_heads_keep_a_third() -> None:
    assert numbers()["kept_kib"] == 30 * 2 * 3 * 64 * 2 / 1024 == 22.5
    token = 30 * (2 * 576 * (576 + 3 * 64) + 3 * 576 * 1536)
    for cached, new in ((True, 1), (False, 5)):
        cost = step_cost(DecoderConfig(**SIZES), 5, cached=cached)
        expected = new * (token + 30 * 2 * 5 * 576) + 576 * 49152
        assert cost.multiplications == expected


@pytest.mark.long
def test_logits_keys_and_values_are_those_of_transformers() -> None:
    fetched("smollm2")
    theirs = AutoModelForCausalLM.from_pretrained(
        folder(entry("smollm2")), attn_implementation="eager"
    ).eval()
    ids = AutoTokenizer.from_pretrained(folder(entry("smollm2")))(START, return_tensors="pt")
    with torch.no_grad():
        out = theirs(ids.input_ids, output_attentions=True, use_cache=True)
    config, count = theirs.config, ids.input_ids.shape[1]
    given = {name: SIZES[name] for name in ("vocab", "dim", "depth", "heads", "kv_heads", "mlp")}
    assert list(given.values()) == [
        *(config.vocab_size, config.hidden_size, config.num_hidden_layers),
        *(config.num_attention_heads, config.num_key_value_heads, config.intermediate_size),
    ]
    logits, cached = torch.tensor(stored("logits")["logits"]), stored("cached")
    assert torch.allclose(logits, out.logits[0, -1], atol=2e-3)
    weights = torch.tensor(cached["weights"])[count - 1, :count]
    assert torch.allclose(weights, out.attentions[LAYER][0, HEAD, -1], atol=1e-4)
    values = out.past_key_values.layers[LAYER].values[0, 2, :, :5]
    assert torch.allclose(torch.tensor(cached["values"])[:count], values, atol=1e-3)


@pytest.mark.parametrize("length", [2, 512, 4096])
def test_the_costs_by_hand(length: int) -> None:
    found = numbers(length=length)
    token = 12 * 768**2 + 2 * length * 768  # 4 d² of attention, 8 d² of the feed-forward network
    without, cached = (12 * new * token + 768 * 50_000 for new in (length, 1))
    assert (found["without"], found["with"]) == (without, cached)
    assert found["times"] == pytest.approx(without / cached)
    assert found["memory"] == pytest.approx(2 * 12 * length * 768 * 2 / 2**20)
