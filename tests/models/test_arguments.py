"""Each argument of a public function can be given by its name, as examples and notebooks do."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import models


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions of models, and those of its classes, by name."""
    for found in pkgutil.walk_packages(models.__path__, "models."):
        module = importlib.import_module(found.name)
        for name, each in vars(module).items():
            if getattr(each, "__module__", "") != found.name or name.startswith("_"):
                continue
            if inspect.isfunction(each):
                yield f"{found.name}.{name}", each
            elif inspect.isclass(each):
                for inner, member in vars(each).items():
                    function = getattr(member, "__func__", member)  # of a static or class method
                    public = inner == "__init__" or not inner.startswith("_")
                    if public and inspect.isfunction(function):
                        yield f"{found.name}.{name}.{inner}", function


def test_arguments_can_be_given_by_name() -> None:
    found = dict(public_functions())
    assert "models.attention.functional.attend" in found
    by_place_alone = [
        f"{name}: {argument}"
        for name, each in found.items()
        for argument, taken in inspect.signature(each).parameters.items()
        if taken.kind is inspect.Parameter.POSITIONAL_ONLY
    ]
    assert not by_place_alone
