"""Reader of CTranslate2 models (model.bin, version 6).

    version, specification, its revision        uint32, text, uint32
    number of tensors                           uint32
    each: name, rank, sizes, type, bytes, data  text, uint8, uint32 …, uint8, uint32
    number of aliases; each: alias, name        uint32; text, text

A text is its length (uint16) and its bytes, the last one zero.

Source: CTranslate2's documentation and `ctranslate2.specs.model_spec`, where the format is written.
"""

from math import prod
from pathlib import Path

import torch
from torch import Tensor

from models.files.cursor import Cursor

VERSION = 6
TYPES = (torch.float32, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16)
MOST_AXES = 8


def read_ctranslate2(file: Path, specification: str) -> dict[str, Tensor]:
    """The tensors of a model, those of aliases included.

    Args:
        file: model.bin.
        specification: what the model has to be, such as "WhisperSpec".

    Raises:
        CheckpointError: for a file that is damaged, of another version or another specification.
    """
    cursor = Cursor(file)
    version = cursor.number("I")
    if version != VERSION:
        raise cursor.damaged(f"expected version {VERSION}, received {version}")
    received, _ = _text(cursor), cursor.number("I")
    if received != specification:
        raise cursor.damaged(f"expected {specification}, received {received!r:.40}")
    tensors: dict[str, Tensor] = {}
    for _ in range(cursor.number("I")):
        name = _text(cursor)
        if name in tensors:
            raise cursor.damaged(f"{name:.60} is there twice")
        tensors[name] = _tensor(cursor, name)
    for _ in range(cursor.number("I")):
        alias, name = _text(cursor), _text(cursor)
        if name not in tensors or alias in tensors:
            raise cursor.damaged(f"{alias:.40} stands for {name:.40}, which is not possible")
        tensors[alias] = tensors[name]
    cursor.check_end()
    return tensors


def _text(cursor: Cursor) -> str:
    return cursor.text(cursor.number("H"))


def _tensor(cursor: Cursor, name: str) -> Tensor:
    rank = cursor.number("B")
    if rank > MOST_AXES:
        raise cursor.damaged(f"{name:.60} has {rank} axes")
    shape = cursor.numbers("I", rank)
    kind, size = cursor.number("B"), cursor.number("I")
    if kind >= len(TYPES):
        raise cursor.damaged(f"{name:.60} has the unknown type {kind}")
    if size != prod(shape) * TYPES[kind].itemsize:
        raise cursor.damaged(f"{name:.60} has {size:,} bytes for the sizes {shape}")
    data = bytearray(cursor.take(size))
    if not data:
        return torch.empty(shape, dtype=TYPES[kind])
    return torch.frombuffer(data, dtype=TYPES[kind]).reshape(shape)
