"""What is between the last block and the logits, among modules made by hand."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.pretrained.observation import ModuleCall
from models.pretrained.readout import readout_of
from models.readout import Readout

WIDTH, VOCAB, TOKENS = 6, 11, 5


def called(path: str, module: nn.Module, given: Tensor, made: Tensor | None = None) -> ModuleCall:
    return ModuleCall(path, module, given, module(given) if made is None else made, 2)


class Body:
    """What leaves the last block, a norm, a factor, a map with a bias, and a factor."""

    def __init__(self, before: float = 1.0, after: float = 1.0, cap: float | None = None) -> None:
        torch.manual_seed(3)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)
        x = torch.randn(1, TOKENS, WIDTH)
        self.blocks = [ModuleCall("layers.1", nn.Identity(), x / 2, x, 2)]
        normed = called("norm", self.norm, x)
        self.calls = [normed, called("lm_head", self.head, normed.output * before)]
        logits = self.calls[-1].output * after
        self.logits = logits if cap is None else cap * torch.tanh(logits / cap)
        config = SimpleNamespace(final_logit_softcapping=cap)
        config.get_text_config = lambda **_: config
        self.network: Any = SimpleNamespace(get_output_embeddings=lambda: self.head, config=config)

    def readout(self) -> Readout:
        out = SimpleNamespace(logits=self.logits)
        with torch.no_grad():
            return readout_of(self.network, self.calls, self.blocks, out)


@pytest.mark.parametrize(
    "given", [{}, {"before": 0.3}, {"after": 0.2}, {"before": 0.3, "after": 4.0}, {"cap": 2.0}]
)
@torch.no_grad()
def test_norm_map_factors_and_cap_give_the_logits(given: dict[str, float]) -> None:
    body = Body(**given)
    found = body.readout()
    assert found.unembedding is body.head.weight
    assert found.norm is not None
    assert found.norm.weight is body.norm.weight
    torch.testing.assert_close(found(body.blocks[0].output), body.logits)


@torch.no_grad()
def test_a_norm_inside_the_last_block_is_no_final_norm() -> None:
    body = Body()
    body.blocks = [
        ModuleCall("layers.1", nn.Identity(), body.calls[0].given, body.calls[0].output, 2)
    ]
    found = body.readout()
    assert found.norm is None
    torch.testing.assert_close(found(body.calls[0].output), body.logits)


@torch.no_grad()
def test_anything_else_is_refused_by_name() -> None:
    body = Body()
    body.calls[-1] = called("lm_head", body.head, body.calls[0].output.tanh())
    body.logits = body.calls[-1].output
    with pytest.raises(ValueError, match="lm_head: expected one norm between what leaves"):
        body.readout()
    body = Body()
    body.logits = body.logits + torch.arange(VOCAB)
    with pytest.raises(ValueError, match="lm_head: expected logits that are what it returns"):
        body.readout()
    body = Body()
    body.calls[-1] = called("lm_head", body.head, body.calls[-1].given, body.logits.relu())
    with pytest.raises(ValueError, match="lm_head: expected a linear map of what it reads"):
        body.readout()
    body = Body()
    body.network.get_output_embeddings = lambda: None
    with pytest.raises(ValueError, match="has no linear map to logits of tokens"):
        body.readout()
