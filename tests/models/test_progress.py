"""Progress of forward passes: every layer once, in order, and an end that leaves nothing behind."""

from typing import Any

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.progress import each, stretch
from models.run import Model, load, trace
from models.seq2seq import Seq2SeqConfig
from models.vit import ViTConfig

IDS = torch.tensor([[3, 1, 4, 1, 5]])
PIXELS = torch.zeros(1, 3, 32, 32)


def gpt2() -> GPT2LMHeadModel:
    config = GPT2Config(n_layer=3, n_head=2, n_embd=10, vocab_size=19, n_positions=11)
    return GPT2LMHeadModel(config)


def own() -> list[tuple[Any, tuple, int]]:
    return [
        (EncoderConfig(vocab=19, depth=3), (IDS,), 3),
        (DecoderConfig(vocab=19, depth=4), (IDS,), 4),
        (Seq2SeqConfig(source_vocab=19, target_vocab=19, depth=3), (IDS, IDS), 6),
        (ViTConfig(image=32, patch=16, depth=5), (PIXELS,), 5),
    ]


@pytest.mark.parametrize("case", own(), ids=lambda case: type(case[0]).__name__)
def test_every_layer_of_our_networks_is_reported(case: tuple[Any, tuple, int]) -> None:
    config, given, layers = case
    heard: list[tuple[int, int]] = []
    trace(load(config), *given, progress=lambda done, total: heard.append((done, total)))
    assert list(dict.fromkeys(heard)) == [(done, layers) for done in range(layers + 1)]


def test_every_layer_of_a_transformers_model_is_reported() -> None:
    heard: list[tuple[int, int]] = []
    trace(load(gpt2()), IDS, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]


class Stopped(BaseException):
    """As an interrupted script raises it: no ValueError, no Exception."""


@pytest.mark.parametrize("source", [EncoderConfig(vocab=19, depth=3), gpt2()], ids=["own", "gpt2"])
def test_a_stopped_pass_leaves_the_network_as_it_was(source: Any) -> None:
    model: Model = load(source)
    model.network.train()
    before = trace(model, IDS).output.values

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        trace(model, IDS, progress=stop)
    assert model.network.training
    assert torch.is_grad_enabled()
    assert trace(model, IDS).output.values.equal(before)


def test_a_stretch_of_the_layers_counts_among_all() -> None:
    heard: list[tuple[int, int]] = []
    report = stretch(lambda done, total: heard.append((done, total)), 3, 5)
    assert list(each("ab", report)) == ["a", "b"]
    assert heard == [(3, 5), (4, 5), (5, 5)]
