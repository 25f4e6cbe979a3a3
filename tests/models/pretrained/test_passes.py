"""Options of a forward pass: those that a network takes."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, T5GemmaForSequenceClassification

from benchmarks.coverage import tiny
from models.pretrained import passes
from models.pretrained.passes import forward_options
from models.run import trace
from tests.models.pretrained.tiny import BY_NAME, ids


class Network(nn.Module):
    """A network whose text config has a key-value cache."""

    def __init__(self) -> None:
        super().__init__()
        self.config = BertConfig(is_decoder=True)


class TakesBoth(Network):
    def forward(self, x: Tensor, use_cache: bool = True, return_dict: bool = True) -> Tensor:
        return x


class HandsOn(Network):
    def forward(self, x: Tensor, **options: Any) -> dict[str, Any]:
        return dict(x=x, **options)


class TakesNone(Network):
    def forward(self, x: Tensor) -> Tensor:
        return x


class SetsOne(Network):
    def forward(self, x: Tensor, **options: Any) -> dict[str, Any]:
        return dict(x=x, use_cache=False, **options)


class NamesOne(Network):
    def forward(self, x: Tensor, use_cache: bool = True, **options: Any) -> dict[str, Any]:
        return dict(x=x, use_cache=use_cache, **options)


BOTH = {"return_dict": True, "use_cache": False}


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (TakesBoth, BOTH),
        (HandsOn, BOTH),
        (NamesOne, BOTH),
        (TakesNone, {}),
        (SetsOne, {"return_dict": True}),
    ],
)
def test_options_that_a_network_takes(kind: type[Network], options: dict[str, bool]) -> None:
    network = kind()
    assert forward_options(network) == options
    network(torch.ones(1), **options)


def test_a_classifier_that_turns_the_cache_off_itself() -> None:
    config: Any = tiny.tiny_config("t5gemma")
    model: Any = T5GemmaForSequenceClassification(config).eval()
    given = {"input_ids": ids(2, 7), "decoder_input_ids": ids(2, 5)}
    with torch.no_grad():
        expected = model(**given).logits
    found = trace(model, given)
    assert {site.kind for site in found.sites} == {"self", "causal", "cross"}
    assert (found.output.values - expected).abs().max() < 1e-6


def test_gradients_stay_on_where_a_pass_cannot_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(passes, "recording", broken)
    with pytest.raises(RuntimeError, match="on purpose"):
        trace(BY_NAME["BERT"].build(), ids(1, 5))
    assert torch.is_grad_enabled()
