"""Memory that a value keeps alive: tensors by their storage, networks as a whole."""

import functools
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

NUMBER = 32  # bytes of a Python number and of the reference to it
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

    Followed are containers, dataclasses with what they cache, objects with `__pieces__`, and what
    functions enclose. Objects of other classes (tokenizers, modules of Python) count nothing.
    Small objects are one piece together.
    """
    known: dict[Piece, int] = {}
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (bool, int, float, complex, type(None))) or id(each) in seen:
            continue
        seen.add(id(each))
        counted = _counted(each)
        if counted is not None:
            known.update(counted)
            continue
        parts = list(_parts(each))
        numbers = sum(
            isinstance(part, (int, float)) and not isinstance(part, bool) for part in parts
        )
        if numbers:
            known[Piece("object", id(each))] = NUMBER * numbers
        waiting += parts
    large = {p: size for p, size in known.items() if size > SMALL or p.kind == "network"}
    small, whole = sum(known.values()) - sum(large.values()), Piece("object", id(value))
    return {**large, whole: large.get(whole, 0) + small} if small else large


def _counted(value: Any) -> Pieces | None:
    """The bytes of a value that is not looked into; None for any other."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    pyarrow = sys.modules.get("pyarrow")
    if isinstance(value, (str, bytes, bytearray)):
        return {Piece("object", id(value)): len(value)}
    if hasattr(value, "__pieces__"):
        return value.__pieces__()
    if torch is not None and isinstance(value, torch.Tensor):
        return _storage(value)
    if torch is not None and isinstance(value, torch.nn.Module):
        tensors = [*value.parameters(), *value.buffers()]
        storages = {piece: size for each in tensors for piece, size in _storage(each).items()}
        modules = MODULE * sum(1 for _ in value.modules())
        return {Piece("network", id(value)): sum(storages.values()) + modules}
    if (table := getattr(pyarrow, "Table", None)) is not None and isinstance(value, table):
        return {Piece("object", id(value)): value.nbytes}
    if numpy is not None and isinstance(value, numpy.ndarray):
        owner = value
        while isinstance(owner.base, numpy.ndarray):
            owner = owner.base
        return {Piece("object", id(owner)): owner.nbytes}
    return None


def _storage(tensor: Any) -> Pieces:
    if tensor.layout is not sys.modules["torch"].strided:
        return {Piece("object", id(tensor)): tensor.numel() * tensor.element_size()}
    storage = tensor.untyped_storage()
    return {Piece("storage", (str(tensor.device), storage.data_ptr())): storage.nbytes()}


def _parts(value: Any) -> Iterator[Any]:
    """What a value refers to."""
    if isinstance(value, Mapping):
        yield from list(value.keys())
        yield from list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from list(value)
    elif isinstance(value, types.FunctionType):
        yield from (cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell))
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, types.MethodType):
        yield value.__self__
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from list(getattr(value, "__dict__", {}).values()) or [
            getattr(value, field.name) for field in fields(value)
        ]


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
