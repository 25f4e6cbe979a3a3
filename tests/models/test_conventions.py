"""What holds of every module of models: values stay as made, and arguments have names."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any

import models

WRITTEN = {"BlockStates", "ModelInputs", "Recording", "Sources"}  # while a pass runs


def defined() -> Iterator[tuple[str, Any]]:
    """Functions and classes, by module and name."""
    for found in pkgutil.walk_packages(models.__path__, "models."):
        for name, each in vars(importlib.import_module(found.name)).items():
            if getattr(each, "__module__", "") == found.name:
                yield f"{found.name}.{name}", each


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions, and those of classes."""
    for name, each in defined():
        for inner, member in vars(each).items() if inspect.isclass(each) else [("", each)]:
            function = getattr(member, "__func__", member)  # of a static or class method
            private = name.rpartition(".")[2].startswith("_") or inner.startswith("_")
            if inspect.isfunction(function) and (not private or inner == "__init__"):
                yield f"{name} {inner}".rstrip(), function


def test_values_are_frozen() -> None:
    classes = [each for _, each in defined() if inspect.isclass(each) and is_dataclass(each)]
    values = [each for each in classes if "__dataclass_fields__" in vars(each)]
    assert {v.__name__ for v in values if "__setattr__" not in vars(v)} == WRITTEN


def test_arguments_can_be_given_by_name() -> None:
    """As examples and notebooks do."""
    found = dict(public_functions())
    assert {"models.attention.functional.attend", "models.trace.Trace weights"} <= found.keys()
    by_place_alone = [
        f"{name}: {argument}"
        for name, each in found.items()
        for argument, taken in inspect.signature(each).parameters.items()
        if taken.kind is inspect.Parameter.POSITIONAL_ONLY
    ]
    assert not by_place_alone
