"""Published networks: their number of weights, ours as built, and transformers' own."""

import pytest

from models.model import BUILT
from models.presets import KINDS, PRESETS, config_of, first_of
from models.seeding import Undrawn
from viz.build.shapes import shapes

PUBLISHED = {
    "bert-base": 109_482_240 - 590_592,  # less the pooler
    "gpt2-small": 124_439_808,
    "vit-b16": 86_567_656,
    "vit-32": 54_622_184,
}


def counted(name):
    return shapes(PRESETS[name].config).card("").parameters


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_numbers(name):
    assert counted(name) == PUBLISHED[name]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_counts_what_its_network_has(name):
    config = PRESETS[name].config
    with Undrawn():  # memory that nobody writes to is not used
        network = BUILT[type(config)][1](config)
    assert counted(name) == sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_first_one_that_is_small(kind):
    assert counted(first_of(kind)) < 1_000_000


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="expected one of encoder, decoder, seq2seq, vit"):
        config_of("mamba", {})
