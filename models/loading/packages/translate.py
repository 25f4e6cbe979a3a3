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

import re
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from torch import Tensor

from models.loading.packages import writing
from models.loading.packages.writing import numbers
from models.ssru import RESERVED

FLOAT32 = 0x404  # of a tensor; others have 8 bits
EMBEDDING = "Wemb"
LAYER = re.compile(
    r"(encoder|decoder)_l(\d+)_(self|context|ffn|rnn)_(?:([Wb])(\w?)|\w*ln_(scale|bias))"
)
BLOCKS = {"self": "attention", "context": "cross", "ffn": "feed_forward", "rnn": "recurrent"}
PARTS = {"q": "query", "k": "key", "v": "value", "o": "out", "1": "up", "2": "down"}
PARTS |= {"": "input", "f": "forget"}
ENDS = {"W": "weight", "b": "bias", "scale": "weight", "bias": "bias"}
END = "</s>"


def write(files: Mapping[str, Path], folder: Path) -> None:
    """Writes the model as an ordinary folder; see `models.loading.packages`."""
    named = {file.suffix: file for file in files.values()}
    writing.write("translate", weights(read_marian(named[".bin"])), folder)
    tokenizer = Tokenizer.from_file(str(named[".json"]))
    tokenizer.add_special_tokens([END, "<unk>"])
    ends = [(END, tokenizer.token_to_id(END))]
    tokenizer.post_processor = TemplateProcessing(f"$A {END}", f"$A $B {END}", ends)
    for name in ("tokenizer.json", "target_tokenizer.json"):
        tokenizer.save(str(folder / name))


def read_marian(file: Path) -> dict[str, Tensor]:
    """The weights as float32."""
    with file.open("rb") as data:
        _, count = numbers(data, "Q", 2)
        headers = [numbers(data, "Q", 4) for _ in range(count)]
        names = [data.read(header[0]).rstrip(b"\0").decode() for header in headers]
        shapes = [numbers(data, "i", header[2]) for header in headers]
        data.read(*numbers(data, "Q", 1))
        tensors = dict[str, Tensor]()
        for (_, kind, _, size), name, shape in zip(headers, names, shapes, strict=True):
            content = data.read(size)
            # not the settings (YAML), nor the factors of inputs that are rounded as well
            if name != "special:model.yml" and not name.endswith("_QuantMultA"):
                tensors[name] = _weight(kind, name, shape, content)
    return tensors


def weights(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights under our names."""
    state = {}
    for name, tensor in tensors.items():
        if place := LAYER.fullmatch(name):
            side, number, block, end, part, norm = place.groups()
            ours = f"after_{BLOCKS[block]}.norm" if norm else f"{BLOCKS[block]}.{PARTS[part]}"
            layer = f"{'encoder.' if side == 'encoder' else ''}blocks.{int(number) - 1}"
            state[f"{layer}.{ours}.{ENDS[norm or end]}"] = (
                tensor.flatten() if len(tensor) == 1 else tensor.T
            )
    reserved = torch.zeros(RESERVED, tensors[EMBEDDING].shape[1])
    state["encoder.tokens.weight"] = torch.cat([tensors[EMBEDDING], reserved])
    return {**state, "bias": tensors["decoder_ff_logit_out_b"].flatten()}


# --- inside ---------------------------------------------------------------------------------------


def _weight(kind: int, name: str, shape: tuple[int, ...], data: bytes) -> Tensor:
    count = prod(shape)
    if kind == FLOAT32:
        return torch.frombuffer(bytearray(data[: 4 * count]), dtype=torch.float32).reshape(shape)
    whole = torch.frombuffer(bytearray(data[:count]), dtype=torch.int8).float()
    (factor,) = struct.unpack("<f", data[count : count + 4])
    stored = whole.reshape(shape) if name == EMBEDDING else whole.reshape(shape[::-1]).T
    return stored / factor
