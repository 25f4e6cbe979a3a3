"""Values stay as they were made, and are told apart by identity where they hold tensors."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import models

WRITTEN = {"BlockOutputs", "ModelInputs", "Recording", "Sources", "_Running"}  # while a pass runs


def classes() -> Iterator[type]:
    """Every dataclass of models."""
    for module in pkgutil.walk_packages(models.__path__, "models."):
        for _, each in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if is_dataclass(each) and each.__module__ == module.name:
                yield each


def test_values_are_frozen() -> None:
    written = {each.__name__ for each in classes() if "__setattr__" not in vars(each)}
    assert written == WRITTEN


def test_tensors_are_not_compared() -> None:
    """`==` of two tensors is no answer."""
    compared = [
        each.__name__
        for each in classes()
        if each.__eq__ is not object.__eq__
        and any("Tensor" in repr(field.type) for field in fields(each))
    ]
    assert not compared
