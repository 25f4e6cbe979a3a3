"""Whisper: a model of CTranslate2 and its tokenizer.

    version, specification, its revision        uint32, text, uint32
    number of tensors                           uint32
    each: name, rank, sizes, type, bytes, data  text, uint8, uint32 …, uint8, uint32

A text is its length (uint16) and its bytes, the last one zero.
Source: `ctranslate2.specs.model_spec`, where the format is written.

Queries, keys and values of self-attention are one matrix there, keys and values of cross-attention
another. Whisper's keys have no bias: zeros stand in its place.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import torch
from torch import Tensor

from models.loading.packages import writing
from models.loading.packages.writing import numbers

TYPES = (torch.float32, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16)
PLACE = re.compile(r"(encoder|decoder)/(?:layer_(\d+)/)?(.+)/(\w+)")
PARTS = {  # transformers' names of what one of theirs is stacked of; others are not needed
    "embeddings": ("embed_tokens",),
    "position_encodings": ("embed_positions",),
    "conv1": ("conv1",),
    "conv2": ("conv2",),
    "layer_norm": ("layer_norm",),
    "self_attention/layer_norm": ("self_attn_layer_norm",),
    "self_attention/linear_0": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attention/linear_1": ("self_attn.out_proj",),
    "attention/layer_norm": ("encoder_attn_layer_norm",),
    "attention/linear_0": ("encoder_attn.q_proj",),
    "attention/linear_1": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "attention/linear_2": ("encoder_attn.out_proj",),
    "ffn/layer_norm": ("final_layer_norm",),
    "ffn/linear_0": ("fc1",),
    "ffn/linear_1": ("fc2",),
}
KINDS = {"gamma": "weight", "beta": "bias", "encodings": "weight"}


def write(files: Mapping[str, Path], folder: Path) -> None:
    """Writes the model as an ordinary folder; see `models.loading.packages`."""
    named = {Path(name).name: file for name, file in files.items()}
    writing.write("whisper", weights(read_ctranslate2(named["model.bin"])), folder)
    shutil.copyfile(named["tokenizer.json"], folder / "tokenizer.json")


def read_ctranslate2(file: Path) -> dict[str, Tensor]:
    """The tensors of a model."""
    with file.open("rb") as data:
        numbers(data, "I")
        _text(data)
        numbers(data, "I")
        (count,) = numbers(data, "I")
        return dict(_tensor(data) for _ in range(count))


def weights(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights under transformers' names, in float32."""
    state = {}
    for name, tensor in tensors.items():
        place = PLACE.fullmatch(name)
        if place is None or place[3] not in PARTS:
            continue
        side, layer, part, kind = place.groups()
        stack = f"model.{side}.layers.{layer}" if layer else f"model.{side}"
        stacked = tensor.float().chunk(len(PARTS[part]))
        for theirs, each in zip(PARTS[part], stacked, strict=True):
            if not (theirs.endswith("k_proj") and kind == "bias"):
                state[f"{stack}.{theirs}.{KINDS.get(kind, kind)}"] = each
    return state


def _text(data: IO[bytes]) -> str:
    return data.read(*numbers(data, "H")).rstrip(b"\0").decode()


def _tensor(data: IO[bytes]) -> tuple[str, Tensor]:
    name = _text(data)
    shape = numbers(data, "I", *numbers(data, "B"))
    (kind,), (size,) = numbers(data, "B"), numbers(data, "I")
    return name, torch.frombuffer(bytearray(data.read(size)), dtype=TYPES[kind]).reshape(shape)
