"""Parts of blocks that mix tokens beside attention: refused where paths are followed, and named."""

from typing import Any

import pytest
import torch

from analysis.flow import flow
from analysis.norms import alti
from analysis.relevance import explain
from analysis.rollout import rollout
from analysis.split import Split, split
from analysis.stack import combined
from models.run import load, trace
from models.trace import Trace
from tests.models.architectures import BY_NAME, GROUPED, build, ids

MAMBA = {"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_n_groups": 1}
KINDS = ["conv", "full_attention", "conv", "full_attention"]
BESIDE = "FalconH1ForCausalLM", "FalconH1Config", {**GROUPED, **MAMBA, "mamba_d_state": 8}
NAMED = r"layers\.0\.mamba, model\.layers\.1\.mamba mix tokens"


@pytest.mark.parametrize(
    ("analysis", "line"),
    [
        (lambda network: rollout(traced(network)), NAMED),
        (lambda network: alti(traced(network)), NAMED),
        (lambda network: flow(traced(network), 3), NAMED),
        (lambda network: explain(load(network), ids(1, 9), method="gradient"), NAMED),
        (lambda network: explain(load(network), ids(1, 9), method="chefer"), NAMED),
        (
            lambda network: split(traced(network), 1, 0, 3, 2),
            r"layers\.0\.self_attn: expected its heads .* Here another branch",
        ),
    ],
    ids=["rollout", "alti", "flow", "gradient", "chefer", "split"],
)
def test_what_follows_paths_refuses_parts_that_mix_tokens(analysis: Any, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        analysis(build(*BESIDE))


def traced(network: Any) -> Trace:
    return trace(network, ids(1, 9), hidden=True)


def test_the_mean_of_weights_follows_no_path() -> None:
    t = trace(build(*BESIDE), ids(1, 9))
    torch.testing.assert_close(combined(t), torch.stack([t.weights(0), t.weights(1)]).mean((0, 1)))


@pytest.mark.parametrize("name", ["BERT", "GPT-2", "Llama", "T5", "ViT", "Whisper"])
def test_transformers_mix_tokens_in_attention_alone(name: str) -> None:
    network = BY_NAME[name].build()
    for parameter in network.parameters():
        parameter.requires_grad_(False)  # frozen weights tell the same
    t = trace(network, BY_NAME[name].inputs())
    assert t.origin is not None
    for tower in {site.tower for site in t.sites}:
        assert t.origin.mixing_parts(tower) == ()


KIND = {"num_hidden_layers": 4, "layer_types": KINDS}
HYBRIDS: dict[str, tuple[str, str, dict[str, Any]]] = {  # blocks 1 and 3 attend, 0 and 2 do not
    "LFM2": ("Lfm2ForCausalLM", "Lfm2Config", {**KIND, "block_multiple_of": 8}),
    "Jamba": (
        "JambaForCausalLM",
        "JambaConfig",
        {
            "num_hidden_layers": 4,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "expert_layer_period": 5,
            "expert_layer_offset": 4,
            "mamba_d_state": 8,
        },
    ),
}


@pytest.mark.parametrize("name", HYBRIDS)
def test_a_block_without_attention_has_a_share_of_its_own(name: str) -> None:
    """What each block adds is the difference of hidden states that the library gives."""
    architecture, config, sizes = HYBRIDS[name]
    network = build(architecture, config, {**GROUPED, **sizes})
    t = trace(network, {"input_ids": ids(1, 9)}, hidden=True)
    with torch.no_grad():
        states = network(ids(1, 9), output_hidden_states=True).hidden_states
    parts = t.stream(3, [5, 2]).parts()
    heads = [part for part in parts if "head" in part or part == "biases"]
    assert set(parts) - set(heads) == {
        "token embedding",
        "layer 0, without attention",
        "layer 1, MLP",
        "layer 2, without attention",
    }
    for layer in (0, 2):
        expected = (states[layer + 1] - states[layer])[0, [5, 2]]
        torch.testing.assert_close(
            parts[f"layer {layer}, without attention"].float(), expected, rtol=1e-4, atol=1e-5
        )
    torch.testing.assert_close(parts["token embedding"].float(), states[0][0, [5, 2]])
    found = split(t, 3, 0, 5, 2)
    assert isinstance(found, Split)
    assert sum(share.value for share in found.query) == pytest.approx(found.score, abs=1e-4)
