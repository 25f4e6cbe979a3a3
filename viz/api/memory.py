"""Memory that a value keeps alive: tensors by their storage, networks as a whole."""

import functools
import sys
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

REFERENCE = 32  # bytes of a reference and, as a rule, of the number that it leads to
SMALL = 1 << 10  # bytes of an object that is not worth an account of its own
MODULE = 2 << 10  # bytes of a module of PyTorch without its weights


class Piece(NamedTuple):
    """Memory that several values may share, so that it counts once: "network", "storage" or
    "object", and its address, which is its own while a value keeps it alive."""

    kind: str
    address: Hashable


Pieces = dict[Piece, int]


def pieces(value: Any) -> Pieces:
    """The bytes of everything that a value refers to; small objects are one piece together.

    Followed are containers, partial functions, and dataclasses with what they cache. Other objects
    (tokenizers, modules of Python) count nothing.
    """
    known: Pieces = {}
    seen: dict[int, Any] = {}
    waiting, small = [value], 0
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        if (counted := _counted(each)) is None:
            parts = [*_parts(each)]
            waiting += parts
            small += REFERENCE * len(parts)
        elif counted[1] > SMALL or counted[0].kind == "network":
            known[counted[0]] = counted[1]
        else:
            small += counted[1]
    whole = Piece("object", id(value))
    return {**known, whole: known.get(whole, 0) + small} if small else known


def _counted(value: Any) -> tuple[Piece, int] | None:
    """A value that is not looked into, and its bytes; None for any other."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if isinstance(value, str | bytes | bytearray):
        return Piece("object", id(value)), len(value)
    if torch is not None and isinstance(value, torch.Tensor):
        return _storage(value)
    if torch is not None and isinstance(value, torch.nn.Module):
        storages = dict(map(_storage, [*value.parameters(), *value.buffers()]))
        modules = MODULE * sum(1 for _ in value.modules())
        return Piece("network", id(value)), sum(storages.values()) + modules
    if numpy is not None and isinstance(value, numpy.ndarray):
        while isinstance(value.base, numpy.ndarray):
            value = value.base
    size = getattr(value, "nbytes", None)  # of NumPy or PyArrow
    return None if size is None else (Piece("object", id(value)), size)


def _storage(tensor: Any) -> tuple[Piece, int]:
    if tensor.layout is not sys.modules["torch"].strided:
        return Piece("object", id(tensor)), tensor.numel() * tensor.element_size()
    storage = tensor.untyped_storage()
    return Piece("storage", (str(tensor.device), storage.data_ptr())), storage.nbytes()


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
