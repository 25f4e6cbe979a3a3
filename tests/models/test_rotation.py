"""Which models have plain rotary positions."""

from typing import Any

import pytest
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from models.decoder import Decoder, DecoderConfig
from models.loading.load import as_model
from models.rotation import rotary_base


def llama(**rope: Any) -> LlamaForCausalLM:
    stated = {"rope_type": "default", "rope_theta": 500.0, **rope}
    config = LlamaConfig(
        vocab_size=11,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        rope_parameters=stated,
    )
    return LlamaForCausalLM(config)


@pytest.mark.parametrize(
    ("network", "base"),
    [
        (Decoder(DecoderConfig(positions="rotary", rotary_base=50.0)), 50.0),
        (Decoder(DecoderConfig(positions="sinusoidal")), None),
        (llama(), 500.0),
        (llama(rope_type="linear", factor=2.0), None),
        (GPT2LMHeadModel(GPT2Config(vocab_size=11, n_embd=16, n_layer=1, n_head=2)), None),
    ],
)
def test_the_base_of_plain_rotary_positions(network, base: float | None) -> None:
    assert rotary_base(as_model(network)) == base
