"""A token on its way up the stream, against states that hooks see."""

import pytest
import torch

from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.loading.load import load
from models.run import trace
from viz.build.follow import follow

IDS = torch.tensor([[5, 3, 8, 1]])


@pytest.mark.parametrize("config", [
    DecoderConfig(vocab=11, dim=24, heads=3, depth=3, mlp=31),
    EncoderConfig(vocab=11, dim=24, heads=3, depth=3, mlp=31, norm="post", segments=2),
])  # fmt: skip
def test_the_stream_behind_each_part_is_the_network_s(config):
    model = load(config)
    t = trace(model, IDS, hidden=True)
    parts = follow(t, 2)
    ends = [part for part in parts if part.name.endswith("MLP")]
    for layer, part in enumerate(ends, start=1):
        state = t.hidden(layer)[2]
        behind = float(state.norm())
        if config.norm == "pre":
            assert part.stream == pytest.approx(behind, rel=1e-4)
    names = [part.name for part in parts]
    assert names[0] == "token embedding"
    assert [name for name in names if "layer 1" in name] == ["layer 1, attention", "layer 1, MLP"]


def test_the_last_word_is_what_the_network_says():
    model = load("grammar-next")
    t = trace(model, "the cat sees")
    last = follow(t, 2, model)[-1]
    shares = t.output.row(2).softmax(-1)
    assert last.chance == pytest.approx(float(shares.max()), abs=1e-4)
    assert last.word


def test_a_token_that_is_not_there_is_refused():
    model = load(DecoderConfig(vocab=11, dim=24, heads=3, depth=1, mlp=31))
    with pytest.raises(ValueError, match="expected"):
        follow(trace(model, IDS), 9)
