"""A small Llama through a GGUF file, written as llama.cpp's converter does."""

from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel
from torch import Tensor, nn

from models.files.errors import CheckpointError
from models.files.folder import Folder
from models.loading.folders import from_folder
from models.loading.packages import smollm2
from models.run import trace

HEADS, KEY_HEADS = 4, 2
SIZES: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": HEADS, "num_key_value_heads": KEY_HEADS, "vocab_size": 261}
CONFIG = transformers.LlamaConfig(
    **SIZES,
    max_position_embeddings=37,
    rms_norm_eps=1e-5,
    rope_parameters={"rope_type": "default", "rope_theta": 1234.0},
    tie_word_embeddings=True,
)
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "model.layers": "blk",
}
LETTERS = sorted(ByteLevel.alphabet())
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["a b", "1 2"]  # the second joins two digits, which are split before


def network() -> transformers.LlamaForCausalLM:
    torch.manual_seed(4)
    made = transformers.LlamaForCausalLM(CONFIG).eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            parameter.normal_(1 if "norm" in name else 0, 0.3)
    return made


def permuted(weight: Tensor, heads: int) -> Tensor:
    """The rows of queries or keys as llama.cpp has them: neighbours are rotated together."""
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def write_file(path: Path, state: dict[str, Tensor]) -> Path:
    file = path / "small.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_block_count(SIZES["num_hidden_layers"])
    writer.add_context_length(CONFIG.max_position_embeddings)
    writer.add_embedding_length(SIZES["hidden_size"])
    writer.add_feed_forward_length(SIZES["intermediate_size"])
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_freq_base(1234.0)
    writer.add_layer_norm_rms_eps(CONFIG.rms_norm_eps)
    writer.add_vocab_size(SIZES["vocab_size"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    tokens = [*SPECIAL, *LETTERS, "ab", "12"]
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL)))
    writer.add_token_merges(MERGES)
    for name, token in (("bos", 1), ("eos", 2), ("unk", 0), ("pad", 2)):
        getattr(writer, f"add_{name}_token_id")(token)
    for name, weight in state.items():
        if name == "lm_head.weight":
            continue
        for heads, part in ((HEADS, "q_proj"), (KEY_HEADS, "k_proj")):
            weight = permuted(weight, heads) if part in name else weight
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        writer.add_tensor(name, weight.numpy())
    for step in ("header", "kv_data", "tensors"):
        getattr(writer, f"write_{step}_to_file")()
    writer.close()
    return file


def written(path: Path) -> Path:
    folder = path / "made"
    folder.mkdir()
    file = write_file(path, network().state_dict())
    smollm2.write({"packed/small.gguf": file}, folder)
    return folder


@torch.no_grad()
def test_what_was_written_is_read(tmp_path: Path) -> None:
    model = from_folder(Folder.at(written(tmp_path)), "small", "transformers")
    ids = torch.tensor([[7, 100, 3, 258, 9, 31]])
    expected = nn.Module.__call__(network(), ids).logits
    assert (trace(model, ids).output.values - expected).abs().max() < 1e-5
    assert model.network.config.rope_parameters["rope_theta"] == 1234.0
    assert model.limit == CONFIG.max_position_embeddings


def test_the_tokenizer(tmp_path: Path) -> None:
    model = from_folder(Folder.at(written(tmp_path)), "small", "transformers")
    assert model.tokenizer is not None
    found = model.tokenizer.encode("ab 12<|im_end|>ü")
    assert found.labels == ("ab", " ", "1", "2", "<|im_end|>", "ü 1/2", "ü 2/2")
    assert found.special == (False,) * 4 + (True,) + (False,) * 2


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    file = write_file(tmp_path, network().state_dict())
    file.write_bytes(file.read_bytes()[:5000])
    (tmp_path / "made").mkdir()
    with pytest.raises(CheckpointError, match=r"^[^\n]*small.gguf is damaged .*: fetch it again$"):
        smollm2.write({"small.gguf": file}, tmp_path / "made")
