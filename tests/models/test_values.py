"""Values stay as they were made."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass

import models

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
