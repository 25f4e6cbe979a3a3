"""Whisper: a model of CTranslate2 and its tokenizer.

    version, specification, its revision        uint32, text, uint32
    number of tensors                           uint32
    each: name, rank, sizes, type, bytes, data  text, uint8, uint32 …, uint8, uint32

A text is its length (uint16) and its bytes, the last one zero.
Source: `ctranslate2.specs.model_spec`, where the format is written.

Queries, keys and values of self-attention are one matrix there, keys and values of cross-attention
another. Whisper's keys have no bias: zeros stand in its place.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

from models.loading.packages.writing import numbers, write_json, write_weights

BEGIN, END = 50257, 50256  # of English-only models
TYPES = (torch.float32, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16)
LINEAR = {"linear_0": "fc1", "linear_1": "fc2"}
PROCESSOR = {
    "feature_extractor_type": "WhisperFeatureExtractor",
    "feature_size": 80,
    "sampling_rate": 16000,
    "hop_length": 160,
    "chunk_length": 30,
    "n_fft": 400,
    "padding_value": 0.0,
    "padding_side": "right",
    "return_attention_mask": False,
}


def write(files: Mapping[str, Path], folder: Path) -> None:
    """Writes the model as an ordinary folder; see `models.loading.packages`."""
    named = {Path(name).name: file for name, file in files.items()}
    tensors = read_ctranslate2(named["model.bin"])
    given = json.loads(named["config.json"].read_text(encoding="utf-8"))
    config = settings(tensors)
    write_json(folder, "config.json", config)
    kept = {name: config[name] for name in config if name.endswith("_token_id")}
    write_json(
        folder, "generation_config.json", {**kept, "alignment_heads": given["alignment_heads"]}
    )
    write_json(folder, "preprocessor_config.json", PROCESSOR)
    shutil.copyfile(named["tokenizer.json"], folder / "tokenizer.json")
    write_json(folder, "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"})
    write_weights(folder, weights(tensors))


def read_ctranslate2(file: Path) -> dict[str, Tensor]:
    """The tensors of a model."""
    with file.open("rb") as data:
        numbers(data, "I")
        _text(data)
        numbers(data, "I")
        (count,) = numbers(data, "I")
        return dict(_tensor(data) for _ in range(count))


def settings(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """config.json, from the sizes of the tensors."""
    vocab, dim = tensors["decoder/embeddings/weight"].shape
    encoder, decoder = (
        {
            f"{side}_layers": _layers(tensors, side),
            f"{side}_attention_heads": int(tensors[f"{side}/num_heads"]),
            f"{side}_ffn_dim": len(tensors[f"{side}/layer_0/ffn/linear_0/bias"]),
        }
        for side in ("encoder", "decoder")
    )
    frames, tokens = (
        len(tensors[f"{side}/position_encodings/encodings"]) for side in ("encoder", "decoder")
    )
    return {
        "architectures": ["WhisperForConditionalGeneration"],
        "model_type": "whisper",
        "is_encoder_decoder": True,
        "vocab_size": vocab,
        "d_model": dim,
        "num_hidden_layers": encoder["encoder_layers"],
        **encoder,
        **decoder,
        "max_source_positions": frames,
        "max_target_positions": tokens,
        "num_mel_bins": tensors["encoder/conv1/weight"].shape[1],
        "activation_function": "gelu",
        "scale_embedding": False,
        "decoder_start_token_id": min(BEGIN, vocab - 1),
        **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), min(END, vocab - 2)),
    }


def weights(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights under transformers' names, in float32."""
    named = {"gamma": "weight", "beta": "bias"}
    state: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 0 or name.startswith("decoder/alignment") or "projection" in name:
            continue  # settings, and the embedding's second name
        side, *path = name.split("/")
        kind = named.get(path[-1], path[-1])
        if path[0].startswith("layer_") and path[0] != "layer_norm":
            layer = f"model.{side}.layers.{path[0].removeprefix('layer_')}"
            parts = _part(path[1], path[2], kind, tensor.float())
            state.update({f"{layer}.{ours}": each for ours, each in parts})
        elif path[0] == "embeddings":
            state[f"model.{side}.embed_tokens.weight"] = tensor.float()
        elif path[0] == "position_encodings":
            state[f"model.{side}.embed_positions.weight"] = tensor.float()
        else:
            state[f"model.{side}.{path[0]}.{kind}"] = tensor.float()
    return state


def _part(block: str, part: str, kind: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """What a tensor of a layer is called in transformers: one name, or those it is stacked of."""
    blocks = {"self_attention": "self_attn", "attention": "encoder_attn", "ffn": "final"}
    if part == "layer_norm":
        yield f"{blocks[block]}_layer_norm.{kind}", tensor
        return
    if block == "ffn":
        yield f"{LINEAR[part]}.{kind}", tensor
        return
    stacks = {
        ("self_attention", "linear_0"): ("q_proj", "k_proj", "v_proj"),
        ("self_attention", "linear_1"): ("out_proj",),
        ("attention", "linear_0"): ("q_proj",),
        ("attention", "linear_1"): ("k_proj", "v_proj"),
        ("attention", "linear_2"): ("out_proj",),
    }
    stacked = stacks[block, part]
    for ours, each in zip(stacked, tensor.chunk(len(stacked)), strict=True):
        if (ours, kind) != ("k_proj", "bias"):
            yield f"{blocks[block]}.{ours}.{kind}", each


def _text(data: IO[bytes]) -> str:
    return data.read(*numbers(data, "H")).rstrip(b"\0").decode()


def _tensor(data: IO[bytes]) -> tuple[str, Tensor]:
    name = _text(data)
    shape = numbers(data, "I", *numbers(data, "B"))
    (kind,), (size,) = numbers(data, "B"), numbers(data, "I")
    return name, torch.frombuffer(bytearray(data.read(size)), dtype=TYPES[kind]).reshape(shape)


def _layers(tensors: Mapping[str, Tensor], side: str) -> int:
    start = f"{side}/layer_"
    numbers = (name.removeprefix(start).split("/")[0] for name in tensors if name.startswith(start))
    return 1 + max((int(number) for number in numbers if number.isdecimal()), default=-1)
