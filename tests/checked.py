"""Shapes and types of every function are checked while the tests run, at little cost.

As `jaxtyping.install_import_hook(packages, "beartype.beartype")`, which binds every call to its
signature and checks it twice, at half of the time of the whole suite. Here beartype checks a call
once, within a context of axis sizes only where its annotations name axes.
"""

import ast
import dataclasses
import hashlib
import inspect
import marshal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any, get_args, get_type_hints

from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, TypeCheckError, config, jaxtyped

OWN_SOURCE = Path(__file__).read_bytes()
DECORATOR = "__checked__"  # the name by which the modules' code finds `checked`
BEARTYPE = beartype(conf=BeartypeConf(violation_type=TypeCheckError))


def install(packages: Sequence[str]) -> None:
    """Checks what is imported of these packages from now on."""
    sys.meta_path.insert(0, Finder(packages))


def checked(wanted: Any) -> Any:
    """A function whose arguments and result are checked, or a dataclass with a checked `__init__`.

    Raises, when called: TypeCheckError.
    """
    if isinstance(wanted, type):
        made = vars(wanted).get("__init__")
        if dataclasses.is_dataclass(wanted) and not hasattr(made, "__wrapped__") and made:
            wanted.__init__ = _checked(made)  # type: ignore[misc]
        return wanted
    return _checked(wanted) if isinstance(wanted, FunctionType) else wanted


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(function):  # beartype alone would check at the first item
        return jaxtyped(function, typechecker=BEARTYPE)
    written = function.__annotations__
    hints = {name: _resolved(hint, function) for name, hint in written.items()}
    function.__annotations__ = hints
    inner = BEARTYPE(function)
    function.__annotations__ = inner.__annotations__ = written
    if not hints:
        return function
    axes = any(map(_names_axes, hints.values()))

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if config.jaxtyping_disable:
            return function(*args, **kwargs)
        if not axes:
            return inner(*args, **kwargs)
        with jaxtyped("context"):
            return inner(*args, **kwargs)

    return call


def _resolved(hint: Any, function: Callable[..., Any]) -> Any:
    """The type that an annotation names; anything where that is imported for type checkers only."""
    try:
        named = SimpleNamespace(__annotations__={"hint": hint})
        return get_type_hints(named, function.__globals__, include_extras=True)["hint"]
    except NameError:
        return Any


def _names_axes(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    return any(map(_names_axes, hint if isinstance(hint, list) else get_args(hint)))


class Finder(MetaPathFinder):
    """Finds the packages' modules where Python does, and has them loaded with the checks."""

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = packages

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self.packages:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


class Loader(SourceFileLoader):
    """Decorates all functions and classes of a module; keeps its code apart from the plain one."""

    def exec_module(self, module: Any) -> None:
        setattr(module, DECORATOR, checked)
        super().exec_module(module)

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        tree = ast.parse(data, path)
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            decorator = ast.copy_location(ast.Name(DECORATOR, ast.Load()), node)
            # next to a function, which it sees as written; around a class, which @dataclass made
            place = 0 if isinstance(node, ast.ClassDef) else len(node.decorator_list)
            node.decorator_list.insert(place, decorator)
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        kept = cache_from_source(path, optimization="checked")
        source = self.get_data(path)
        version = hashlib.sha256(source + OWN_SOURCE).digest()
        with suppress(OSError, EOFError, ValueError, TypeError):  # none yet, or half of it
            written, code = marshal.loads(self.get_data(kept))
            if written == version:
                return code
        code = self.source_to_code(source, path)
        if not sys.dont_write_bytecode:
            self.set_data(kept, marshal.dumps((version, code)))
        return code
