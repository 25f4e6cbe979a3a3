"""Reader of Marian's binary models (version 1), 8-bit ones of intgemm included.

    version, number of tensors                          uint64, uint64
    each: length of name, type, axes, bytes of data     uint64 …
    the names, each ending on a zero byte; the sizes    int32 …
    filling up to a multiple of 256                     uint64 (how many), bytes
    the data, each filled up to a multiple of 256, the settings at the end aside

An 8-bit tensor is followed by the factor it was multiplied with: w = q / factor. All but the
embedding are stored transposed.

Source: Marian's `src/common/binary.cpp` and `src/tensors/cpu/integer_common.h`.
"""

import struct
from math import isfinite, prod
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from models.files.cursor import Cursor

VERSION = 1
ALIGNED = 256
FLOAT32, INTGEMM8, INT8 = 0x404, 0x4101, 0x101
SIZES = {FLOAT32: 4, INTGEMM8: 1, INT8: 1}
EMBEDDING = "Wemb"
ACTIVATION_FACTOR = "_QuantMultA"  # of inputs that are rounded as well: not needed with floats
SETTINGS = "special:model.yml"
MOST_TENSORS, MOST_AXES = 100_000, 8


class Header(NamedTuple):
    """What the file says of a tensor ahead of its data."""

    name_bytes: int
    kind: int
    axes: int
    data_bytes: int


def read_marian(file: Path) -> tuple[dict[str, Tensor], str]:
    """The weights as float32, and the model's settings (YAML).

    Raises:
        CheckpointError: for a file that is damaged, of another version or another type of weights.
    """
    cursor = Cursor(file)
    version, count = cursor.numbers("Q", 2)
    if version != VERSION:
        raise cursor.damaged(f"expected version {VERSION}, received {version}")
    if count > MOST_TENSORS:
        raise cursor.damaged(f"{count:,} tensors")
    headers = [Header(*cursor.numbers("Q", 4)) for _ in range(count)]
    names = [cursor.text(header.name_bytes) for header in headers]
    if len(set(names)) != len(names):
        raise cursor.damaged("a name is there twice")
    shapes = [_shape(cursor, *pair) for pair in zip(headers, names, strict=True)]
    padding = cursor.number("Q")
    if padding >= ALIGNED or (cursor.place + padding) % ALIGNED:
        raise cursor.damaged(f"{padding} bytes before the data")
    cursor.take(padding)
    weights, settings = {}, ""
    for header, name, shape in zip(headers, names, shapes, strict=True):
        data = _data(cursor, header, name, shape)
        if name == SETTINGS:
            settings = bytes(data).rstrip(b"\0").decode("utf-8", errors="replace")
        elif not name.endswith(ACTIVATION_FACTOR):
            weights[name] = _weight(cursor, header.kind, name, shape, data)
    cursor.check_end()
    return weights, settings


def _shape(cursor: Cursor, header: Header, name: str) -> tuple[int, ...]:
    if header.axes > MOST_AXES:
        raise cursor.damaged(f"{name:.60} has {header.axes} axes")
    shape = cursor.numbers("i", header.axes)
    if min(shape, default=1) < 1:
        raise cursor.damaged(f"{name:.60} has the sizes {shape}")
    return shape


def _data(cursor: Cursor, header: Header, name: str, shape: tuple[int, ...]) -> memoryview:
    if header.kind not in SIZES:
        raise cursor.damaged(f"{name:.60} has the unknown type {header.kind:#x}")
    factor = 4 if header.kind == INTGEMM8 else 0
    needed = SIZES[header.kind] * prod(shape) + factor
    filled = needed if name == SETTINGS else -(-needed // ALIGNED) * ALIGNED
    if header.data_bytes != filled:
        raise cursor.damaged(f"{name:.60} has {header.data_bytes:,} bytes for the sizes {shape}")
    return cursor.take(header.data_bytes)[:needed]


def _weight(
    cursor: Cursor, kind: int, name: str, shape: tuple[int, ...], data: memoryview
) -> Tensor:
    if kind == FLOAT32:
        return torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(shape)
    if kind != INTGEMM8 or len(shape) != 2:
        raise cursor.damaged(f"{name:.60} is no matrix of 8-bit weights")
    whole = torch.frombuffer(bytearray(data[:-4]), dtype=torch.int8).float()
    factor = struct.unpack("<f", data[-4:])[0]
    if not isfinite(factor) or factor <= 0:
        raise cursor.damaged(f"{name:.60} has the factor {factor}")
    stored = whole.reshape(shape) if name == EMBEDDING else whole.reshape(shape[::-1]).T
    return stored / factor
