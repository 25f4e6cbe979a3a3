"""What all edits share: their declaration, their fields, checked, the call that makes one, and the
words of the sentences about them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import Parameter, signature
from math import isfinite
from typing import Any, TypeVar, dataclass_transform

from models.where import Where

KINDS = (None, "self", "causal", "cross")
Kind = TypeVar("Kind")
LEAVES = "which the model never saw; the average is gentler"
Numbers = int | tuple[int, ...] | None  # heads, queries, keys or tokens; None means all


@dataclass(frozen=True, kw_only=True, repr=False)
class Layered:
    """An edit of some layers. Besides `layer`, its own field, they are chosen by these; None means
    all."""

    kind: str | None = None
    tower: str | None = None
    module: str | None = None
    part: int | None = None

    @cached_property
    def where(self) -> Where:
        """The address of the layers."""
        return Where(**{field.name: getattr(self, field.name) for field in fields(Where)})


@dataclass_transform(frozen_default=True)
def edit(kind: type[Kind]) -> type[Kind]:
    """Makes a frozen dataclass of an edit, whose `repr` is the call that makes it.

    Its fields are the arguments of that call.
    """
    declared: Any = dataclass(frozen=True, repr=False)(kind)
    declared.__repr__ = lambda edit: code_of(kind, arguments(edit))
    return declared


def checked(edit: Any, check: Callable[[str, Any], Any], *names: str) -> None:
    """Sets fields of an edit to what a check makes of them; its address is checked as well."""
    for name in names:
        assign(edit, **{name: check(name, getattr(edit, name))})
    if not isinstance(edit, Layered):
        return
    where = edit.where
    if where.kind not in KINDS:
        raise ValueError(f"kind: expected self, causal, cross or None, received {where.kind!r}")
    for name in ("layer", "part"):
        value = getattr(where, name)
        if not (value is None or _is_whole(value)):
            raise ValueError(f"{name}: expected a whole number or None, received {value!r}")
    for name in ("tower", "module"):
        if not isinstance(value := getattr(where, name), str | None):
            raise ValueError(f"{name}: expected a name or None, received {value!r}")


def numbers(name: str, value: Any) -> Numbers:
    """One number, several as a tuple, or None; ValueError for anything else."""
    if value is None or _is_whole(value):
        return value
    if isinstance(value, tuple | list | range) and all(map(_is_whole, value)):
        return tuple(value)
    raise ValueError(f"{name}: expected a number, several of them, or None, received {value!r}")


def number(name: str, value: Any) -> int | float:
    """A finite number; ValueError for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
        return value
    raise ValueError(f"{name}: expected a number, received {value!r}")


def whole(name: str, value: Any) -> int:
    """A whole number; ValueError for anything else."""
    if not _is_whole(value):
        raise ValueError(f"{name}: expected a whole number, received {value!r}")
    return value


def choice(name: str, value: Any, choices: tuple[str, ...]) -> Any:
    """One of some words; ValueError for anything else."""
    if value not in choices:
        expected = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise ValueError(f"{name}: expected {expected}, received {value!r}")
    return value


def assign(edit: object, **fields: object) -> None:
    """Sets the fields of a frozen edit, for its constructor."""
    for name, value in fields.items():
        object.__setattr__(edit, name, value)


def arguments(edit: Any) -> dict[str, Any]:
    """The arguments of the shortest call that makes an edit; the required ones are first."""
    values = vars(edit) | (vars(edit.where) if hasattr(edit, "where") else {})
    return {
        name: values[name]
        for name, parameter in signature(type(edit)).parameters.items()
        if parameter.default is Parameter.empty or values[name] != parameter.default
    }


def code_of(kind: type, given: dict[str, Any]) -> str:
    """The call that makes an edit of these arguments, the required ones by their place."""
    parameters = signature(kind).parameters
    written = [
        f"{value!r}" if parameters[name].default is Parameter.empty else f"{name}={value!r}"
        for name, value in given.items()
    ]
    return f"{kind.__name__}({', '.join(written)})"


def chosen(wanted: Numbers, count: int, name: str) -> tuple[int, ...] | None:
    """Numbers among `count`; None for all.

    Raises:
        ValueError: for one that is not there.
    """
    if wanted is None:
        return None
    indices = (wanted,) if isinstance(wanted, int) else tuple(wanted)
    for each in indices:
        if not 0 <= each < count:
            raise ValueError(f"{name}: expected 0 to {count - 1}, received {each}")
    return indices


def heads_of(head: Numbers, count: int) -> list[int]:
    """Heads among `count`."""
    indices = chosen(head, count, "head")
    return [*range(count)] if indices is None else [*indices]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def place(where: Where, head: Numbers = None, *, heads: str = "head") -> str:
    """A layer and some of its heads: "Layer 3, heads 0 and 2"."""
    layer = "Every layer" if where.layer is None else f"Layer {where.layer}"
    given = [where.tower, where.kind and f"{where.kind} attention", where.module]
    given.append(None if where.part is None else f"part {where.part}")
    named = [each for each in given if each]
    layer += f" ({', '.join(named)})" if named else ""
    return layer if heads == "" else f"{layer}, {some(head, heads)}"


def some(wanted: Numbers, noun: str) -> str:
    """Some numbers with their noun: "every head", "head 2", "heads 0, 2 and 5"."""
    if wanted is None:
        return f"every {noun}"
    if isinstance(wanted, int):
        return f"{noun} {wanted}"
    if not wanted:
        return f"no {noun}"
    return f"{noun}{'s' if len(wanted) > 1 else ''} {joined(map(str, wanted))}"


def joined(words: Iterable[str]) -> str:
    """Words as a list in a sentence: "1, 2 and 3"; a long one is cut short."""
    names = [*words]
    if len(names) > 8:
        names = [*names[:6], f"{len(names) - 6} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
