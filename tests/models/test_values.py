"""Values stay as they were made, and are told apart by identity where they hold tensors."""

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin

from torch import Tensor, nn

import models
from models.trace import Trace

WRITTEN = {
    "BlockStates",
    "ModelInputs",
    "Recording",
    "Sources",
}  # while a pass runs


def classes() -> Iterator[type]:
    """Every dataclass of models."""
    for module in pkgutil.walk_packages(models.__path__, "models."):
        for _, each in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if is_dataclass(each) and each.__module__ == module.name:
                yield each


def test_values_are_frozen() -> None:
    written = {each.__name__ for each in classes() if "__setattr__" not in vars(each)}
    assert written == WRITTEN


def classes_in(annotation: Any, module: str) -> Iterator[type]:
    """The classes that an annotation of a module names; what a function takes is not among them."""
    if isinstance(annotation, str):
        names = vars(sys.modules[module])
        for word in re.findall(r"\w+", annotation):
            yield from classes_in(names.get(word), module)
    elif get_origin(annotation) is not Callable:
        kind = getattr(annotation, "array_type", annotation)  # of jaxtyping
        if inspect.isclass(kind):
            yield kind
        for each in get_args(annotation):
            yield from classes_in(each, module)


def holds_tensors(kind: type, above: tuple[type, ...] = ()) -> bool:
    """Whether `==` of a class would come to tensors or networks, its own or those of its parts."""
    if issubclass(kind, Tensor | nn.Module):
        return True
    if above and is_dataclass(kind) and kind.__eq__ is object.__eq__:
        return False  # a part that is told apart by identity
    return kind.__module__.startswith("models.") and any(
        holds_tensors(each, (*above, kind))
        for annotation in inspect.get_annotations(kind).values()
        for each in classes_in(annotation, kind.__module__)
        if each not in above
    )


def test_tensors_are_not_compared() -> None:
    """`==` of two tensors is no answer, nor can values that are compared always be keys."""
    holders = [each for each in classes() if holds_tensors(each)]
    assert {"Entry", "Mask", "Pattern"} <= {each.__name__ for each in holders}
    assert not [each.__name__ for each in (Trace, *holders) if each.__eq__ is not object.__eq__]
