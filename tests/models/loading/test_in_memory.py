"""Models that are inside a module: of somebody's own, or compiled."""

from typing import Any

import pytest
import torch
from torch import nn

from models.encoder import Encoder, EncoderConfig
from models.run import load, trace
from tests.models.architectures import BY_NAME

IDS = torch.tensor([[3, 4, 5, 6]])


def built(name: str) -> Any:
    return BY_NAME[name].build()


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # of torch.compile itself
@pytest.mark.parametrize("name", ["BERT", "own"])
def test_a_compiled_model_is_traced_as_the_original(name: str) -> None:
    own = EncoderConfig(vocab=53, dim=30, depth=2, heads=3, mlp=37, seed=5)
    inside = Encoder(own).eval() if name == "own" else built(name)
    compiled: Any = torch.compile(inside)
    assert load(compiled).network is inside
    assert trace(compiled, IDS).weights(1).equal(trace(inside, IDS).weights(1))


def test_a_network_of_timm_says_what_to_load_instead() -> None:
    network = type("Net", (nn.Module,), {"__module__": "timm.models.vision_transformer"})()
    with pytest.raises(ValueError, match="received Net of timm; load a ViT of transformers, such"):
        load(network)
