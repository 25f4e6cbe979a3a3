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
from tests.models.architectures import GROUPED
from tests.models.pretrained.tiny import BY_NAME, build, ids, normal

MAMBA = {"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_n_groups": 1}
CONVOLUTIONS = {"conv_dim": [16, 16], "conv_kernel": [4, 4], "conv_stride": [3, 3]}
CONFORMER = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
CONFORMER |= {"intermediate_size": 30, "position_embeddings_type": "rotary"}
CONFORMER |= {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
KINDS = ["conv", "full_attention", "conv", "full_attention"]
BOTH: dict[str, tuple[Any, Any, str]] = {  # networks, inputs, and the part that mixes
    "Falcon-H1": (
        ("FalconH1ForCausalLM", "FalconH1Config", {**GROUPED, **MAMBA, "mamba_d_state": 8}),
        {"input_ids": ids(1, 9)},
        r"layers\.0\.mamba, model\.layers\.1\.mamba mix tokens",
    ),
    "Conformer": (
        (
            "Wav2Vec2ConformerModel",
            "Wav2Vec2ConformerConfig",
            {**CONFORMER, **CONVOLUTIONS, "conv_depthwise_kernel_size": 5},
        ),
        {"input_values": normal(1, 200)},
        r"layers\.0\.conv_module, encoder\.layers\.1\.conv_module mix tokens",
    ),
}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("analysis", [rollout, alti, lambda t: flow(t, 3)])
def test_what_follows_paths_refuses_parts_that_mix_tokens(name: str, analysis: Any) -> None:
    made, inputs, named = BOTH[name]
    with pytest.raises(ValueError, match=named):
        analysis(trace(build(*made), inputs, hidden=True))


@pytest.mark.parametrize("method", ["gradient", "chefer"])
def test_relevance_of_attention_refuses_them_too(method: Any) -> None:
    made, inputs, named = BOTH["Falcon-H1"]
    with pytest.raises(ValueError, match=named):
        explain(load(build(*made)), inputs, method=method)


def test_the_mean_of_weights_follows_no_path() -> None:
    made, inputs, _ = BOTH["Falcon-H1"]
    t = trace(build(*made), inputs)
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
STATE_SPACE = {"mamba_d_state": 8, "mamba_n_heads": 4, "mamba_d_head": "auto", "mamba_n_groups": 1}
MIXED = ["mamba", "attention", "mamba", "attention"]
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
    "Bamba": (
        "BambaForCausalLM",
        "BambaConfig",
        {"num_hidden_layers": 4, "attn_layer_indices": [1, 3], **STATE_SPACE},
    ),
    "RecurrentGemma": (
        "RecurrentGemmaForCausalLM",
        "RecurrentGemmaConfig",
        {
            "num_hidden_layers": 4,
            "block_types": ["recurrent", "attention"],
            "lru_width": 36,
            "conv1d_width": 3,
        },
    ),
    "Granite 4": (
        "GraniteMoeHybridForCausalLM",
        "GraniteMoeHybridConfig",
        {
            "num_hidden_layers": 4,
            "layer_types": MIXED,
            "shared_intermediate_size": 20,
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            **STATE_SPACE,
        },
    ),
}


SLOW = ("Bamba", "Granite 4")  # state spaces in plain PyTorch
MARKED = [pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in HYBRIDS]


@pytest.mark.parametrize("name", MARKED)
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


@pytest.mark.parametrize("name", BOTH)
def test_why_a_layer_beside_another_part_is_not_split(name: str) -> None:
    why = {
        "Falcon-H1": r"layers\.0\.self_attn: expected its heads .* Here another branch is added",
        "Conformer": r"layers\.1\.self_attn: expected .* of the same input\. Here it is rotated",
    }
    made, inputs, _ = BOTH[name]
    with pytest.raises(ValueError, match=why[name]):
        split(trace(build(*made), inputs), 1, 0, 3, 2)


def test_the_split_of_a_conformer_that_does_not_rotate_its_input() -> None:
    (architecture, config, sizes), inputs, _ = BOTH["Conformer"]
    sizes = {**sizes, "position_embeddings_type": "none"}
    found = split(trace(build(architecture, config, sizes), inputs), 1, 0, 3, 2)
    assert isinstance(found, Split)
    assert sum(share.value for share in found.query) == pytest.approx(found.score, abs=1e-4)
    names = [share.name for share in found.query]
    assert "layer 0, MLP and conv_module" in names
    assert "layer 1, before its attention" in names


def test_attention_that_reads_more_than_the_stream_is_refused_in_words() -> None:
    kinds = ["mamba", "hybrid", "mamba", "hybrid"]
    sizes = {**GROUPED, "num_hidden_layers": 4, "layers_block_type": kinds, "mamba_d_state": 8}
    sizes |= {"n_mamba_heads": 4, "mamba_headdim": 24, "mamba_ngroups": 1, "chunk_size": 8}
    network = build("Zamba2ForCausalLM", "Zamba2Config", {**sizes, "num_mem_blocks": 1})
    t = trace(network, {"input_ids": ids(1, 9)})
    with pytest.raises(ValueError, match="expected it inside block 1, which reads and returns"):
        split(t, 3, 0, 5, 2)
