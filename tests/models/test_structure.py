"""What is kept of a network's structure: once, weakly, and anew when the network was changed."""

import gc
from typing import Any
from weakref import ref

import torch
from torch import nn

from models.pretrained.attention_modules import AttentionModules
from models.run import trace
from models.structure import modules_of, once
from tests.models.architectures import BY_NAME, TEXT, build, ids


def test_a_question_is_asked_once_until_a_module_is_another() -> None:
    asked: list[nn.Module] = []

    @once
    def count(network: nn.Module) -> int:
        asked.append(network)
        return len(list(network.modules()))

    network: Any = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))
    assert (count(network), count(network), len(asked)) == (4, 4, 1)
    network[1][0] = nn.Sequential(nn.ReLU(), nn.ReLU())
    assert (count(network), count(network), len(asked)) == (6, 6, 2)
    network[0] = nn.Linear(2, 3)  # as many as before
    assert (count(network), len(asked)) == (6, 3)
    assert modules_of(network) == list(network.modules())
    assert count(nn.Linear(2, 3)) == 1


def test_a_network_that_was_traced_is_freed() -> None:
    network = BY_NAME["BERT"].build()
    trace(network, ids(1, 5))
    gone = ref(network)
    del network
    gc.collect()
    assert gone() is None


def test_a_trace_sees_blocks_that_were_put_in_and_taken_out() -> None:
    network: Any = build("BertModel", "BertConfig", {**TEXT, "num_hidden_layers": 3})
    assert len(trace(network, ids(1, 5)).sites) == 3
    del network.encoder.layer[1]
    assert [site.layer for site in trace(network, ids(1, 5)).sites] == [0, 1]
    network.encoder.layer.append(build("BertModel", "BertConfig", TEXT).encoder.layer[0])
    found = trace(network, ids(1, 5))
    assert [site.layer for site in found.sites] == [0, 1, 2]
    with torch.no_grad():
        assert found.output.values.equal(network(ids(1, 5)).last_hidden_state)


def test_layers_whose_call_tells_all_get_no_hook() -> None:
    hooked = {
        name: len(AttentionModules.find_in(BY_NAME[name].build()).attention)
        for name in ("BERT", "Llama", "GPT-2", "T5", "Swin")
    }
    assert hooked == {"BERT": 0, "Llama": 0, "GPT-2": 2, "T5": 6, "Swin": 0}
