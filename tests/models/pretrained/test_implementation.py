"""The one file that writes a private field of transformers: what it switches, and its version."""

from typing import Any

import pytest
import torch
import transformers
from transformers import BertConfig, BertModel

from models.pretrained import implementation
from models.pretrained.attention_modules import configs_of
from models.pretrained.implementation import TracedName, count_traces, untraced_implementation
from models.run import load, trace
from tests.models.architectures import TEXT

IDS = torch.tensor([[3, 4, 5]])


@pytest.fixture
def network() -> BertModel:
    return BertModel(BertConfig(**TEXT)).eval()


def test_overlapping_traces_restore_the_name_once(network: BertModel) -> None:
    (config,) = configs_of(network)
    previous = config._attn_implementation
    count_traces([config], 1)
    count_traces([config], 1)
    assert isinstance(config._attn_implementation_internal, TracedName)
    assert untraced_implementation(config) == previous
    count_traces([config], -1)
    assert isinstance(config._attn_implementation_internal, TracedName)
    count_traces([config], -1)
    assert not isinstance(config._attn_implementation_internal, TracedName)
    assert config._attn_implementation == previous


def test_attention_that_a_user_registered_is_refused_by_name(network: BertModel) -> None:
    """Its weights are not those of the library's: here all queries see all keys alike."""

    def uniform(module: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> Any:
        return value.mean(2, keepdim=True).expand_as(query).transpose(1, 2), None

    transformers.AttentionInterface.register("uniform", uniform)
    network.set_attn_implementation("uniform")
    line = rf"attention 'uniform' is registered by {__name__}.*set_attn_implementation\('sdpa'\)"
    with pytest.raises(ValueError, match=line):
        trace(load(network), IDS)
    network.set_attn_implementation("sdpa")
    assert trace(load(network), IDS).sites


def test_a_library_s_name_with_another_function_is_refused(
    network: BertModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = transformers.AttentionInterface._global_mapping
    monkeypatch.setitem(functions, "sdpa", lambda *given, **_: (given[3].transpose(1, 2), None))
    with pytest.raises(ValueError, match="attention 'sdpa' is registered by"):
        trace(load(network), IDS)


def test_an_untested_version_is_refused(
    network: BertModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert transformers.__version__.startswith(implementation.TESTED)
    monkeypatch.setattr(implementation.transformers, "__version__", "6.0.0")
    with pytest.raises(RuntimeError, match=r"transformers 5.*, 5\.23\.x.* received 6\.0\.0"):
        trace(load(network), IDS)
