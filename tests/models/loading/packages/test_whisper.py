"""A small Whisper through a file of CTranslate2, stacked as its converter does."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from models.files.folder import Folder
from models.loading.folders import from_folder
from models.loading.packages import whisper
from models.run import trace

SIZES: dict[str, Any] = {
    "vocab_size": 53,
    "d_model": 22,
    "num_mel_bins": 8,
    "max_source_positions": 20,
}
SIZES |= {"encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 13}
SIZES |= {"decoder_layers": 1, "decoder_attention_heads": 2, "decoder_ffn_dim": 17}
SIZES |= {"max_target_positions": 11}
TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4}
IDS: dict[str, Any] = {
    "decoder_start_token_id": 52,
    "bos_token_id": 51,
    "eos_token_id": 51,
    "pad_token_id": 51,
}
STACKS = {  # names of CTranslate2, of transformers
    "self_attention/linear_0": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attention/linear_1": ("self_attn.out_proj",),
    "self_attention/layer_norm": ("self_attn_layer_norm",),
    "ffn/layer_norm": ("final_layer_norm",),
    "ffn/linear_0": ("fc1",),
    "ffn/linear_1": ("fc2",),
}
CROSS = {
    "attention/linear_0": ("encoder_attn.q_proj",),
    "attention/linear_1": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "attention/linear_2": ("encoder_attn.out_proj",),
    "attention/layer_norm": ("encoder_attn_layer_norm",),
}


def network() -> transformers.WhisperForConditionalGeneration:
    torch.manual_seed(8)
    config = transformers.WhisperConfig(**SIZES, **IDS)
    made = transformers.WhisperForConditionalGeneration(config).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(0.05, 0.3)
    return made


def arrays(state: dict[str, Tensor]) -> dict[str, np.ndarray]:
    """The tensors as CTranslate2 names and stacks them."""
    found: dict[str, np.ndarray] = {}

    def add(name: str, *parts: str) -> None:
        for kind in ("weight", "bias"):
            zeros = torch.zeros(SIZES["d_model"])
            tensors = [state.get(f"{part}.{kind}", zeros) for part in parts]
            theirs = {"weight": "gamma", "bias": "beta"}[kind] if "norm" in name else kind
            found[f"{name}/{theirs}"] = torch.cat(tensors).numpy()

    for side in ("encoder", "decoder"):
        for layer in range(SIZES[f"{side}_layers"]):
            stacks = STACKS | (CROSS if side == "decoder" else {})
            for theirs, ours in stacks.items():
                path = f"model.{side}.layers.{layer}"
                add(f"{side}/layer_{layer}/{theirs}", *(f"{path}.{part}" for part in ours))
        add(f"{side}/layer_norm", f"model.{side}.layer_norm")
        positions = state[f"model.{side}.embed_positions.weight"]
        found[f"{side}/position_encodings/encodings"] = positions.numpy()
        found[f"{side}/num_heads"] = np.array(2, np.int16)
    for conv in ("conv1", "conv2"):
        add(f"encoder/{conv}", f"model.encoder.{conv}")
    found["decoder/embeddings/weight"] = state["model.decoder.embed_tokens.weight"].numpy()
    found["decoder/alignment_heads"] = np.array(1, np.int16)
    return found


def ctranslate2_bytes(tensors: dict[str, np.ndarray], aliases: dict[str, str]) -> bytes:
    """A model of CTranslate2."""

    def text(name: str) -> bytes:
        return struct.pack("<H", len(name) + 1) + name.encode() + b"\0"

    out = struct.pack("<I", 6) + text("WhisperSpec") + struct.pack("<II", 3, len(tensors))
    for name, array in tensors.items():
        data = array.tobytes()
        out += text(name) + struct.pack(f"<B{array.ndim}I", array.ndim, *array.shape)
        out += struct.pack("<BI", TYPES[array.dtype.name], len(data)) + data
    out += struct.pack("<I", len(aliases))
    return out + b"".join(text(alias) + text(name) for alias, name in aliases.items())


def write(path: Path, tensors: dict[str, np.ndarray]) -> Path:
    alias = {"decoder/projection/weight": "decoder/embeddings/weight"}
    (path / "model.bin").write_bytes(ctranslate2_bytes(tensors, alias))
    (path / "config.json").write_text(json.dumps({"alignment_heads": [[0, 1]]}))
    (path / "tokenizer.json").write_text("{}")
    folder = path / "made"
    folder.mkdir(exist_ok=True)
    whisper.write({f"a/{name}": path / name for name in FILES}, folder)
    return folder


FILES = ("model.bin", "config.json", "tokenizer.json")


@torch.no_grad()
def test_what_was_written_is_read(tmp_path: Path) -> None:
    expected = network()
    folder = write(tmp_path, arrays(expected.state_dict()))
    (folder / "tokenizer.json").unlink()
    model = from_folder(Folder.at(folder), "small", "transformers")
    mels = torch.randn(1, 8, 40, generator=torch.Generator().manual_seed(2))
    ids = torch.tensor([[52, 3, 7, 5]])
    given = {"input_features": mels, "decoder_input_ids": ids}
    found = trace(model, given).output.values
    assert (found - expected(**given).logits).abs().max() < 1e-5
    assert json.loads((folder / "generation_config.json").read_text())["alignment_heads"] == [
        [0, 1]
    ]
    assert {name: getattr(model.network.config, name) for name in IDS} == IDS
