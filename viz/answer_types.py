"""Types of the browser's code, written for its checks: `python -m viz.answer_types`.

They are read from the dataclasses of the API's answers. The modules of `viz.declared` are written
beside them; git ignores both.
"""

import ast
import inspect
import json
import sys
import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from analysis.methods import Method
from models.whole_file import write_whole
from viz.api.endpoint import Download
from viz.declared import OF_METHOD, modules
from viz.routes import ENDPOINTS
from viz.selection import OF_VIEWS, Option
from viz.views import kind_of

VIZ = Path(__file__).parent


def main() -> None:
    """Writes the types and the modules, which git ignores."""
    for name, code in {**modules(), "web/answers.d.ts": answers()}.items():
        write_whole(VIZ / name, code)


class _Names(dict[str, Any]):
    """What a module imports, the names for its annotations alone among them."""

    def __init__(self, module: Any) -> None:
        tree = ast.walk(ast.parse(inspect.getsource(module)))
        imports = [node for node in tree if isinstance(node, ast.ImportFrom) and node.module]
        self.modules = {each.name: node.module for node in imports for each in node.names}

    def __missing__(self, name: str) -> Any:
        return getattr(import_module(self.modules[name] or ""), name)


def answers() -> str:
    """TypeScript interfaces: of options, methods and the dataclasses of answers."""
    routes = {name: _hints(each.function).get("return") for (_, name), each in ENDPOINTS.items()}
    waiting: list[Any] = [*routes.values()]
    lines: dict[Any, str] = {}
    for hint in waiting:
        if _is_record(hint) and hint is not Download and hint not in lines:
            hints = _hints(hint)
            fields = {name: _typescript(each) for name, each in hints.items()}
            lines[hint] = _interface(hint.__name__, fields)
            waiting += hints.values()
        waiting += get_args(hint)
    typed = {name: each for name, each in routes.items() if {each, *get_args(each)} & lines.keys()}
    options = {each.name: _typescript_of(each) for each in OF_VIEWS.values()}
    method = {name: _typescript(_hints(Method)[name]) for name in OF_METHOD}
    method["name"] = 'Options["method"]'
    written = [
        "// Written by `python -m viz.answer_types`.",
        "/** What is chosen in a view, beside the site and its head. */",
        _interface("Options", options),
        _interface("MethodInfo", method),
        *lines.values(),
        "/** By route. */",
        _interface("Answers", {name: _typescript(each) for name, each in typed.items()}),
    ]
    return "\n".join([*written, ""])


def _interface(name: str, fields: Mapping[str, str]) -> str:
    inside = "; ".join(f"{each}: {kind}" for each, kind in fields.items())
    return f"export interface {name} {{ {inside} }}"


def _typescript_of(option: Option) -> str:
    """The type of an option's values."""
    return kind_of(option).typescript + (" | null" if option.start is None else "")


def _hints(value: Any) -> dict[str, Any]:
    return get_type_hints(value, None, _Names(sys.modules[value.__module__]))


def _is_record(hint: Any) -> bool:
    """Whether a value of this type becomes an object."""
    return isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields"))


def _typescript(hint: Any) -> str:
    """A type of Python, as its values are in JSON."""
    plain = {int: "number", float: "number", str: "string", bool: "boolean", types.NoneType: "null"}
    if isinstance(hint, type) and hint in plain:
        return plain[hint]
    if hasattr(hint, "dim_str"):  # of an array
        return "number" + len(hint.dim_str.split()) * "[]"
    if _is_record(hint):
        return hint.__name__
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(map(json.dumps, inner))
    parts = [_typescript(each) for each in inner if each is not ...]
    if origin in (Union, types.UnionType):
        return " | ".join(parts)
    if origin is tuple and ... not in inner:
        return f"[{', '.join(parts)}]"
    return f"Record<string, {parts[1]}>" if len(parts) == 2 else f"({parts[0]})[]"


if __name__ == "__main__":
    main()
