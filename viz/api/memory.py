"""Memory that a value keeps alive: tensors by their storage, networks as a whole."""

import functools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

REFERENCE = 32  # bytes of a reference and, as a rule, of the number that it leads to
SMALL = 1 << 10  # bytes of an object that is not worth an account of its own
MODULE = 2 << 10  # bytes of a module of PyTorch without its weights


@dataclass(frozen=True, slots=True)
class Piece:
    """Memory that several values may share, so that it counts once.

    Attributes:
        kind: "network", "storage" of a tensor, or "object".
        key: its address, which is its own while a value keeps it alive.
    """

    kind: str
    key: int | tuple[str, int]


Pieces = Mapping[Piece, int]


def pieces(value: Any) -> dict[Piece, int]:
    """The bytes of everything that a value refers to.

    Followed are containers, partial functions, dataclasses with what they cache, and objects with
    `__pieces__`. Other objects (tokenizers, modules of Python) count nothing. Small ones are one
    piece together.
    """
    known: dict[Piece, int] = {}
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        counted = _counted(each)
        if counted is None:
            parts = [*_parts(each)]
            waiting += parts
            counted = {Piece("object", id(each)): REFERENCE * len(parts)}
        known.update(counted)
    large = {p: size for p, size in known.items() if size > SMALL or p.kind == "network"}
    small, whole = sum(known.values()) - sum(large.values()), Piece("object", id(value))
    return {**large, whole: large.get(whole, 0) + small} if small else large


def _counted(value: Any) -> Pieces | None:
    """The bytes of a value that is not looked into; None for any other."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if hasattr(value, "__pieces__"):
        return value.__pieces__()
    if isinstance(value, str | bytes | bytearray):
        return {Piece("object", id(value)): len(value)}
    if torch is not None and isinstance(value, torch.Tensor):
        return _storage(value)
    if torch is not None and isinstance(value, torch.nn.Module):
        tensors = [*value.parameters(), *value.buffers()]
        storages = {piece: size for each in tensors for piece, size in _storage(each).items()}
        modules = MODULE * sum(1 for _ in value.modules())
        return {Piece("network", id(value)): sum(storages.values()) + modules}
    if numpy is not None and isinstance(value, numpy.ndarray):
        while isinstance(value.base, numpy.ndarray):
            value = value.base
    bytes_of_array = getattr(value, "nbytes", None)  # of NumPy or PyArrow
    return {Piece("object", id(value)): bytes_of_array} if bytes_of_array is not None else None


def _storage(tensor: Any) -> Pieces:
    if tensor.layout is not sys.modules["torch"].strided:
        return {Piece("object", id(tensor)): tensor.numel() * tensor.element_size()}
    storage = tensor.untyped_storage()
    return {Piece("storage", (str(tensor.device), storage.data_ptr())): storage.nbytes()}


def _parts(value: Any) -> Iterator[Any]:
    """What a value refers to."""
    if isinstance(value, Mapping):
        yield from [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        yield from [*value]
    elif isinstance(value, functools.partial):
        yield from (value.args, value.keywords)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from [*getattr(value, "__dict__", {}).values()] or [
            getattr(value, field.name) for field in fields(value)
        ]
