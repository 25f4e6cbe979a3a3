"""LoRA adapters, against base models that add their outputs by hooks, on the input's way."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from models.files.errors import CheckpointError
from models.loading.load import load
from models.tracing import trace

RANK, ALPHA = 3, 6.0
IDS = torch.tensor([[1, 2, 3, 4, 5]])


def llama() -> LlamaForCausalLM:
    sizes: dict[str, Any] = {
        "vocab_size": 31,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    config = LlamaConfig(**sizes, num_key_value_heads=2, intermediate_size=24)
    return LlamaForCausalLM(config).eval()


def gpt2() -> GPT2LMHeadModel:
    return GPT2LMHeadModel(GPT2Config(vocab_size=31, n_embd=16, n_layer=2, n_head=4)).eval()


def written(folder: Path, base: Path, state: dict[str, Tensor], **settings: Any) -> Path:
    folder.mkdir()
    save_file(
        {f"base_model.model.{name}": each for name, each in state.items()},
        folder / "adapter_model.safetensors",
    )
    asked = {"peft_type": "LORA", "base_model_name_or_path": str(base), "r": RANK}
    (folder / "adapter_config.json").write_text(
        json.dumps({**asked, "lora_alpha": ALPHA, **settings})
    )
    return folder


def matrices(network: nn.Module, names: list[str]) -> dict[str, Tensor]:
    """Random A and B of each module, as an adapter names them."""
    state = {}
    for name in names:
        weight = network.get_parameter(f"{name}.weight")
        wide, high = weight.shape if "c_" in name else weight.shape[::-1]
        state[f"{name}.lora_A.weight"] = torch.randn(RANK, wide) / 4
        state[f"{name}.lora_B.weight"] = torch.randn(high, RANK) / 4
    return state


def logits(network: nn.Module, state: dict[str, Tensor], scales: dict[str, float]) -> Tensor:
    """Of ids 1 to 5, where each module adds what its two matrices make of its input."""
    for name, scale in scales.items():
        down, up = (state[f"{name}.lora_{each}.weight"] for each in "AB")
        network.get_submodule(name).register_forward_hook(
            lambda _, given, output, down=down, up=up, scale=scale: (
                output + scale * (given[0] @ down.T @ up.T)
            )
        )
    return network(IDS).logits[0].detach()


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("make", [llama, gpt2])
def test_the_copy_is_its_base_with_what_the_matrices_add(make, ranked: bool, tmp_path: Path):
    network = make()
    network.save_pretrained(tmp_path / "base")
    chosen = ("q_proj", "down_proj", "c_attn", "c_fc")
    names = [name for name, _ in network.named_modules() if name.endswith(chosen)]
    assert len(names) == 4
    state = matrices(network, names)
    pattern = {names[0].partition(".")[2]: 2.0}
    folder = written(
        tmp_path / "copy", tmp_path / "base", state, use_rslora=ranked, alpha_pattern=pattern
    )
    rank = math.sqrt(RANK) if ranked else RANK
    scales = {name: (2.0 if name == names[0] else ALPHA) / rank for name in names}
    copy = trace(load(folder), IDS)
    base = trace(load(tmp_path / "base", door="transformers"), IDS)
    torch.testing.assert_close(copy.output.values[0], logits(network, state, scales))
    assert not torch.allclose(copy.output.values, base.output.values, atol=1e-2)


def test_rows_get_their_lengths(tmp_path: Path) -> None:
    """DoRA, with W″ row by row."""
    network = llama()
    network.save_pretrained(tmp_path / "base")
    name = "model.layers.1.self_attn.v_proj"
    state = matrices(network, [name])
    lengths = state[f"{name}.lora_magnitude_vector"] = torch.rand(8) + 0.5
    folder = written(tmp_path / "copy", tmp_path / "base", state, use_dora=True)
    opened = load(folder).network.get_parameter(f"{name}.weight")
    weight = network.get_parameter(f"{name}.weight")
    down, up = (state[f"{name}.lora_{each}.weight"] for each in "AB")
    for row in range(8):
        added = sum(up[row, i] * down[i] for i in range(RANK))
        changed = weight[row] + ALPHA / RANK * added
        torch.testing.assert_close(
            opened[row], lengths[row] * changed / changed.square().sum().sqrt()
        )


def test_a_head_that_it_holds_replaces_that_of_the_base(tmp_path: Path) -> None:
    network = llama()
    network.save_pretrained(tmp_path / "base")
    head = torch.randn(31, 16)
    folder = written(tmp_path / "copy", tmp_path / "base", {"lm_head.base_layer.weight": head})
    assert torch.equal(load(folder).network.get_parameter("lm_head.weight"), head)


def refused(base: LlamaForCausalLM, path: Path, state: dict[str, Tensor], **settings: Any) -> str:
    """The line that says why."""
    base.save_pretrained(path / "base")
    with pytest.raises(CheckpointError, match=r"^[^\n]+$") as error:
        load(written(path / "copy", path / "base", state, **settings))
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"peft_type": "IA3"}, "expected an adapter of the type LORA"),
        ({"base_model_name_or_path": "someone/else"}, "someone/else, which is not on this machine"),
        ({"base_model_name_or_path": None}, "names no base model"),
        ({"layer_replication": [[0, 1]]}, "layer_replication is not supported"),
        ({"alpha_pattern": {"(a+)+$": 1}}, "alpha_pattern: expected ends of names"),
    ],
)
def test_other_adapters_are_refused(change: dict, expected: str, tmp_path: Path) -> None:
    state = matrices(network := llama(), ["model.layers.0.self_attn.q_proj"])
    assert expected in refused(network, tmp_path, state, **change)


A, B = (f"model.layers.0.self_attn.q_proj.lora_{each}.weight" for each in "AB")


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (
            {A.replace("0", "9"): (3, 16), B.replace("0", "9"): (16, 3)},
            "no place for model.layers.9",
        ),
        ({A: (3, 17), B: (16, 3)}, "q_proj of the shape (16, 17)"),
        ({B: (16, 3)}, "is incomplete"),
        ({"model.layers.0.self_attn.extra.weight": (3, 3)}, "no place for model.layers"),
        ({"lm_head.weight": (30, 16)}, "lm_head.weight of the shape (30, 16)"),
    ],
)
def test_weights_that_do_not_fit_are_named(
    shapes: dict[str, tuple[int, ...]], expected: str, tmp_path: Path
) -> None:
    state = {name: torch.ones(shape) for name, shape in shapes.items()}
    assert expected in refused(llama(), tmp_path, state)
