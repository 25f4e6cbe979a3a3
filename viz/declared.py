"""Writes what is declared in Python for the browser: `python -m viz.declared`.

The modules that it writes are checked in; a test compares. The types of the API's answers, which
are read from its dataclasses, are not: they are written before types are checked.
"""

import ast
import inspect
import json
import sys
import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from analysis.methods import METHODS, Method
from viz.selection import OF_VIEWS, Form, Option
from viz.views import FORMS, PICTURED, kind_of
from viz.web import WEB

OVER_PICTURE = "image"  # the form that a picture opens in
NOTE = (
    "Written by `python -m viz.declared` from viz/selection.py, viz/views and analysis/methods.py."
)
WIDE = 110  # characters of a line
OF_METHOD = ("name", "title", "kind", "of", "shows", "doubt", "formula", "source", "low", "high")


def main() -> None:
    """Writes the modules and the types."""
    for name, code in {**modules(), "answers.d.ts": answers()}.items():
        (WEB / name).write_text(code, encoding="utf-8")


def modules() -> dict[str, str]:
    """The code of each module, by its path in viz/web."""
    return {"core/declared.js": declared(), "text/forms.js": painters()}


def declared() -> str:
    """Options, forms and methods."""
    return f"""// {NOTE}

/** @import {{MethodInfo, Options}} from "../types" */

/** @type {{Options}} before anything is chosen */
export const START = {_code({each.name: each.start for each in OF_VIEWS.values()})};

/**
 * Every form of a view or file: the label of its button, what it shows, and whether
 * it covers heads of a layer, all layers together, or every head.
 */
export const FORMS = {_code({form.name: _form(form) for form in FORMS})};

/**
 * The forms that a view is switched between.
 *
 * @type {{Record<"text" | "image", readonly Options["form"][]>}}
 */
export const ON_SCREEN = {_code(_on_screen())};

/** @type {{MethodInfo[]}} the methods for the whole model */
export const METHODS = {_code([*map(_method, METHODS)])};
"""


def painters() -> str:
    """What draws the forms of the picture, by name; a module is imported once it is wanted."""
    entries = "\n".join(
        f'  {form.name}: () => import("../../views/{form.module}/view.js").then('
        f"(view) => view.{_component(form.module)}),"
        for form in FORMS
        if form.module
    )
    return f"""// {NOTE}

/** @type {{Record<string, () => Promise<any>>}} */
export const VIEWS = {{
{entries}
}};
"""


# ---- the types of answers


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
    from viz.api.endpoint import Download
    from viz.routes import ENDPOINTS

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
        "// Written by `python -m viz.declared`.",
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


def _form(form: Form) -> Mapping[str, Any]:
    return {name: getattr(form, name) for name in ("label", "title", "covers")}


def _on_screen() -> Mapping[str, Any]:
    """The forms that a view of a text, or of a picture, is switched between."""
    pictured = [form.name for form in FORMS if form.pictured and form.name in PICTURED]
    image = [OVER_PICTURE, *(name for name in pictured if name != OVER_PICTURE)]
    return {"text": [form.name for form in FORMS if form.module], "image": image}


def _method(method: Method) -> Mapping[str, Any]:
    return {name: getattr(method, name) for name in OF_METHOD}


def _component(module: str) -> str:
    """The component of a view's folder."""
    return "".join(part.capitalize() for part in module.split("_"))


def _code(value: Any, indent: str = "") -> str:
    """A value as JavaScript: on one line where it fits, else in as few as its entries fill."""
    if isinstance(value, Mapping):
        inside = [f"{name}: {_code(each, indent + '  ')}" for name, each in value.items()]
        opening, closing, space = "{", "}", " "
    elif isinstance(value, list | tuple):
        inside = [_code(each, indent + "  ") for each in value]
        opening, closing, space = "[", "]", ""
    else:
        plain = int(value) if isinstance(value, float) and value.is_integer() else value
        return json.dumps(plain, ensure_ascii=False)
    line = f"{opening}{space}{', '.join(inside)}{space}{closing}" if inside else opening + closing
    if len(indent) + len(line) < WIDE:
        return line
    lines = [inside[0]]
    for each in inside[1:]:
        longer = f"{lines[-1]}, {each}"
        fits = "\n" not in longer and len(indent) + len(longer) < WIDE - 2
        lines[-1:] = [longer] if fits else [lines[-1], each]
    return "\n".join([opening, *(f"{indent}  {each}," for each in lines), indent + closing])


if __name__ == "__main__":
    main()
