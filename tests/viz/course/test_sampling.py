"""The figure on sampling: transformers' processors and model; costs beside PyTorch's counter."""

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    AutoConfig,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from models.catalogue import entry, folder
from models.decoder import Decoder, DecoderConfig
from tests.fetched import fetched
from viz.api import figures
from viz.course import real
from viz.course.sampling.numbers import EACH, SMOLLM2, kept, multiplications

START = "The capital of France is"
NO_IDS: Any = None  # what was written before, which the processors do not read


def numbers(**changes: object) -> dict[str, Any]:
    return figures.numbers("sampling", [(name, str(each)) for name, each in changes.items()])()


def stored(function: str) -> dict[str, Any]:
    return real.stored("sampling")["answers"][f'{function}["{START}"]']


def stored_logits() -> torch.Tensor:
    answer = stored("logits")
    return torch.tensor([*answer["first"], *(z for z in answer["rest"] for _ in range(EACH))])


@pytest.mark.parametrize(
    ("temperature", "k", "p"), [(1, 0, 1), (0.3, 0, 1), (3, 3, 1), (3, 0, 0.9), (2, 7, 0.8)]
)
def test_the_probabilities_are_those_of_the_library(temperature: float, k: int, p: float) -> None:
    found = numbers(temperature=temperature, k=k, p=p)
    logits = stored_logits()[None]
    scores = TemperatureLogitsWarper(float(temperature))(NO_IDS, logits)
    warm = scores[0].softmax(-1)
    if k:
        scores = TopKLogitsWarper(k)(NO_IDS, scores)
    together = scores[0].softmax(-1).cumsum(0)
    if p < 1:
        scores = TopPLogitsWarper(p)(NO_IDS, scores)
    drawn = scores[0].softmax(-1)
    assert found["plain"] == pytest.approx(logits[0, :].softmax(-1)[:10].tolist(), rel=1e-4)
    assert found["warm"] == pytest.approx(warm[:10].tolist(), rel=1e-4)
    assert found["drawn"] == pytest.approx(drawn[:10].tolist(), rel=1e-4)
    assert found["together"] == pytest.approx(together[:10].tolist(), rel=1e-4)
    assert found["others"]["warm"] == pytest.approx(warm[10:].sum().item(), rel=1e-4)
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


@pytest.mark.parametrize("tokens", [2, 11])
@pytest.mark.parametrize("cached", [True, False])
def test_the_multiplications_are_pytorchs(tokens: int, cached: bool) -> None:
    """A multiplication and an addition are two FLOPs."""
    config = DecoderConfig(
        vocab=13, dim=24, depth=2, heads=4, kv_heads=2, mlp=34, max_tokens=19, gated=True
    )
    network = Decoder(config).eval()
    ids = torch.arange(tokens)[None] % config.vocab
    with torch.no_grad():
        past = network(ids[:, :-1]) if cached else None
        with FlopCounterMode(display=False) as counter:
            out = network(ids, past=past, logits_to_keep=1)
            for pattern in out.patterns:  # the fused kernel is not counted
                keys, values = (each.repeat_interleave(2, 1) for each in (pattern.k, pattern.v))
                _ = pattern.q @ keys.mT @ values
    assert 2 * multiplications(config, tokens, cached=cached) == counter.get_total_flops()
    assert kept(config, tokens) == sum(p.k.numel() + p.v.numel() for p in out.patterns)
    assert numbers()["kept_kib"] == 30 * 2 * 3 * 64 * 2 / 1024 == 22.5


@pytest.mark.long
def test_the_sizes_are_those_of_the_checkpoint() -> None:
    fetched("smollm2")
    theirs = AutoConfig.from_pretrained(folder(entry("smollm2")))
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")
    sizes = [getattr(theirs, name) for name in (*names, "num_key_value_heads", "intermediate_size")]
    ours = (SMOLLM2.vocab, SMOLLM2.dim, SMOLLM2.depth, SMOLLM2.heads, SMOLLM2.kv_heads, SMOLLM2.mlp)
    assert sizes == [*ours]
