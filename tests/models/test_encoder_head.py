"""An encoder that answers at every token."""

import pytest
import torch

from models.encoder import Encoder, EncoderConfig
from models.run import load, trace

SIZES = {"vocab": 53, "dim": 35, "depth": 2, "heads": 5, "mlp": 47, "dropout": 0.0}
IDS = torch.randint(53, (3, 11), generator=torch.Generator().manual_seed(5))


def test_logits_are_a_product_with_the_last_states() -> None:
    network = Encoder(EncoderConfig(**SIZES, classes=7)).eval()
    assert network.head is not None
    assert network.head.weight is not None
    out = network(IDS)
    assert out.logits.shape == (3, 11, 7)
    expected = torch.einsum("btd,cd->btc", out.hidden, network.head.weight)
    assert (out.logits - expected).abs().max() < 1e-5  # 35 products are added in another order
    assert out.result[0] == "logits"
    found = trace(load(network), IDS)
    assert found.output.name == "logits"
    assert found.output.values.equal(out.logits)


def test_without_classes_nothing_changes() -> None:
    bare, headed = Encoder(EncoderConfig(**SIZES)), Encoder(EncoderConfig(**SIZES, classes=7))
    assert bare.head is None
    assert bare(IDS).result[0] == "hidden states"
    names = set(headed.state_dict()) - set(bare.state_dict())
    assert names == {"head.weight"}
    for name, tensor in bare.state_dict().items():
        assert tensor.equal(headed.state_dict()[name])


def test_classes_cannot_be_negative() -> None:
    with pytest.raises(ValueError, match="classes: expected at least 0, received -1"):
        EncoderConfig(classes=-1)
