"""The translators from English to Portuguese and back: a binary model of Marian and its tokenizer.

    version, number of tensors                          uint64, uint64
    each: length of name, type, axes, bytes of data     uint64 …
    the names, each ending on a zero byte; the sizes    int32 …
    filling up to a multiple of 256                     uint64 (how many), bytes
    the data, each filled up to a multiple of 256; the settings (YAML) are one of the tensors

An 8-bit tensor is followed by the factor it was multiplied with: w = q / factor. All but the
embedding are stored transposed. Source: Marian's `src/common/binary.cpp`.

Marian's names of layer l: encoder_ll_self_W{q,k,v,o}, encoder_ll_ffn_W{1,2}, decoder_ll_rnn_W{f},
decoder_ll_context_W{q,k,v,o}, decoder_ll_ffn_W{1,2}; b for biases, ln_scale and ln_bias for norms.
Its matrices are multiplied from the right, x W, so that ours are transposed.
"""

import json
import re
import struct
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

from models.files.errors import CheckpointError
from models.loading.convert.own import settings_of
from models.loading.packages.writing import write_json, write_weights
from models.ssru import RESERVED, TranslatorConfig

FLOAT32, INTGEMM8 = 0x404, 0x4101
EMBEDDING = "Wemb"
ACTIVATION_FACTOR = "_QuantMultA"  # of inputs that are rounded as well: not needed with floats
SETTINGS = "special:model.yml"
HEADS = re.compile(r"^transformer-heads: *(\d+)", re.MULTILINE)
LAST_BIAS = "decoder_ff_logit_out_b"
ATTENTION = {"q": "query", "k": "key", "v": "value", "o": "out"}
END, UNKNOWN = "</s>", "<unk>"


def write(files: Mapping[str, Path], folder: Path) -> None:
    """Writes the model as an ordinary folder; see `models.loading.packages`."""
    named = {file.suffix: file for file in files.values()}
    tensors, given = read_marian(named[".bin"])
    config = config_of(tensors, given)
    write_json(folder, "config.json", settings_of(config))
    write_weights(folder, weights(tensors, config))
    tokenizer = with_end(json.loads(named[".json"].read_text(encoding="utf-8")))
    for name in ("tokenizer.json", "target_tokenizer.json"):
        write_json(folder, name, tokenizer)


def read_marian(file: Path) -> tuple[dict[str, Tensor], str]:
    """The weights as float32, and the model's settings."""
    with file.open("rb") as data:
        _, count = _numbers(data, "Q", 2)
        headers = [_numbers(data, "Q", 4) for _ in range(count)]
        names = [data.read(header[0]).rstrip(b"\0").decode() for header in headers]
        shapes = [_numbers(data, "i", header[2]) for header in headers]
        data.read(*_numbers(data, "Q", 1))
        tensors, settings = dict[str, Tensor](), ""
        for (_, kind, _, size), name, shape in zip(headers, names, shapes, strict=True):
            numbers = data.read(size)
            if name == SETTINGS:
                settings = numbers.rstrip(b"\0").decode()
            elif not name.endswith(ACTIVATION_FACTOR):
                tensors[name] = _weight(kind, name, shape, numbers)
    return tensors, settings


def config_of(tensors: Mapping[str, Tensor], settings: str) -> TranslatorConfig:
    """Our config, from the sizes of the tensors and the number of heads."""
    heads, (vocab, dim) = HEADS.search(settings), tensors[EMBEDDING].shape
    if heads is None:
        raise CheckpointError("the settings of Marian state no number of heads")
    return TranslatorConfig(
        vocab=vocab,
        dim=dim,
        depth=_layers(tensors, "encoder"),
        decoder_depth=_layers(tensors, "decoder"),
        heads=int(heads[1]),
        mlp=tensors["encoder_l1_ffn_b1"].numel(),
    )


def weights(tensors: Mapping[str, Tensor], config: TranslatorConfig) -> dict[str, Tensor]:
    """The weights under our names."""
    state = {
        ours: tensors[theirs].flatten() if len(tensors[theirs]) == 1 else tensors[theirs].T
        for theirs, ours in _names(config)
    }
    reserved = torch.zeros(RESERVED, config.dim)
    state["encoder.tokens.weight"] = torch.cat([tensors[EMBEDDING], reserved])
    return {**state, "bias": tensors[LAST_BIAS].flatten()}


def with_end(tokenizer: dict[str, Any]) -> dict[str, Any]:
    """The tokenizer, which appends the end token and marks special ones."""
    ids = {piece: number for number, (piece, _) in enumerate(tokenizer["model"]["vocab"])}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": ids[name], "content": name, **flags, "special": True} for name in (END, UNKNOWN)
    ]
    end, (first, second) = _special(END), (_sequence("A"), _sequence("B"))
    template = {
        "type": "TemplateProcessing",
        "single": [first, end],
        "pair": [first, second, end],
        "special_tokens": {END: {"id": END, "ids": [ids[END]], "tokens": [END]}},
    }
    return {**tokenizer, "added_tokens": added, "post_processor": template}


# --- inside ---------------------------------------------------------------------------------------


def _numbers(data: IO[bytes], kind: str, count: int) -> tuple[int, ...]:
    """The next whole numbers, little-endian; `kind` as in `struct`."""
    form = f"<{count}{kind}"
    return struct.unpack(form, data.read(struct.calcsize(form)))


def _weight(kind: int, name: str, shape: tuple[int, ...], data: bytes) -> Tensor:
    count = prod(shape)
    if kind == FLOAT32:
        return torch.frombuffer(bytearray(data[: 4 * count]), dtype=torch.float32).reshape(shape)
    if kind != INTGEMM8:
        raise CheckpointError(f"{name} has the type {kind:#x}: expected floats or 8-bit weights")
    whole = torch.frombuffer(bytearray(data[:count]), dtype=torch.int8).float()
    (factor,) = struct.unpack("<f", data[count : count + 4])
    stored = whole.reshape(shape) if name == EMBEDDING else whole.reshape(shape[::-1]).T
    return stored / factor


def _names(config: TranslatorConfig) -> Iterator[tuple[str, str]]:
    """Marian's names of the tensors of the blocks, and ours."""
    for layer in range(config.depth):
        theirs, ours = f"encoder_l{layer + 1}", f"encoder.blocks.{layer}"
        yield from _attention(f"{theirs}_self", f"{ours}.attention")
        yield from _norm(f"{theirs}_self_Wo_ln", f"{ours}.after_attention")
        yield from _feed_forward(theirs, ours)
    for layer in range(config.decoder_depth):
        theirs, ours = f"decoder_l{layer + 1}", f"blocks.{layer}"
        yield f"{theirs}_rnn_W", f"{ours}.recurrent.input.weight"
        yield f"{theirs}_rnn_Wf", f"{ours}.recurrent.forget.weight"
        yield f"{theirs}_rnn_bf", f"{ours}.recurrent.forget.bias"
        yield from _norm(f"{theirs}_rnn_ffn_ln", f"{ours}.after_recurrent")
        yield from _attention(f"{theirs}_context", f"{ours}.cross")
        yield from _norm(f"{theirs}_context_Wo_ln", f"{ours}.after_cross")
        yield from _feed_forward(theirs, ours)


def _attention(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    for short, name in ATTENTION.items():
        yield f"{theirs}_W{short}", f"{ours}.{name}.weight"
        yield f"{theirs}_b{short}", f"{ours}.{name}.bias"


def _norm(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    yield f"{theirs}_scale", f"{ours}.norm.weight"
    yield f"{theirs}_bias", f"{ours}.norm.bias"


def _feed_forward(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    for number, name in enumerate(("up", "down"), start=1):
        yield f"{theirs}_ffn_W{number}", f"{ours}.feed_forward.{name}.weight"
        yield f"{theirs}_ffn_b{number}", f"{ours}.feed_forward.{name}.bias"
    yield from _norm(f"{theirs}_ffn_ffn_ln", f"{ours}.after_feed_forward")


def _layers(tensors: Mapping[str, Tensor], side: str) -> int:
    matches = (re.match(rf"{side}_l(\d+)_", name) for name in tensors)
    return max((int(each[1]) for each in matches if each), default=0)


def _special(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def _sequence(name: str) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": 0}}
