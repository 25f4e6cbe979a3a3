"""The `repr` of results in one line: tensors by their shapes, long tuples by their lengths."""

from dataclasses import fields
from typing import Any

from torch import Tensor

LONGEST = 90  # characters of a value


def one_line(result: Any) -> str:
    """A dataclass's name and those of its fields that are set, as its `__repr__`."""
    values = ((field.name, getattr(result, field.name)) for field in fields(result))
    parts = (f"{name}={_short(value)}" for name, value in values if _is_set(value))
    return f"{type(result).__name__}({', '.join(parts)})"


def _is_set(value: Any) -> bool:
    return value is not None and not (isinstance(value, tuple) and not value)


def _short(value: Any) -> str:
    if isinstance(value, Tensor):
        return " × ".join(map(str, value.shape)) or f"{float(value):.4g}"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = repr(value)
    if len(text) <= LONGEST and "\n" not in text:
        return text
    if isinstance(value, tuple):
        return f"({len(value)} of {type(value[0]).__name__})"
    return f"{type(value).__name__}(…)"
