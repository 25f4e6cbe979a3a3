"""Edits as text, for links and scripts: the calls that make them, one after another.

    Ablate(18, 6), Cut(2, None, 4, (0, 1)), Temperature(0.5, layer=3)

The text is Python, but it is never run: only calls of edits with plain numbers and words are read.
As values, for JSON, an edit is a mapping: its name as "edit", and its arguments.
What an edit takes from elsewhere, another trace or a reference set, is written as its name.
"""

import ast
import pkgutil
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from inspect import isclass, signature
from typing import Any

from models import edits as room
from models.edits.fields import arguments, code_of

MAX_TEXT = 4000  # characters: a link that every browser and proxy takes
MAX_EDITS = 64
PLAIN = re.compile(r"[\w\s(),='\"“”+./:-]*")
TAKEN = ("source", "over")  # arguments that are named
EXCERPT = 80  # characters of a wrong text in a message


@lru_cache
def kinds() -> dict[str, type]:
    """Every edit by its name: what the modules beside this one define that can be described."""
    types: dict[str, type] = {}
    for each in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        module = import_module(each.name)
        classes = (kind for kind in vars(module).values() if isclass(kind))
        mine = (
            kind for kind in classes if kind.__module__ == each.name and hasattr(kind, "describe")
        )
        types |= {kind.__name__: kind for kind in mine}
    return types


def format_edits(edits: Iterable[Any], names: Mapping[str, Any] = {}) -> str:
    """The text of some edits.

    Args:
        edits: those of this project.
        names: of the traces and reference sets in them.

    Raises:
        ValueError: for an edit that has no text, or a trace without a name.
    """
    return ", ".join(_written(edit, names) for edit in edits)


def parse_edits(text: str, named: Mapping[str, Any] = {}) -> tuple[Any, ...]:
    """The edits of a text.

    Args:
        text: from `format_edits`, or written by hand.
        named: the traces and reference sets that it names.

    Raises:
        ValueError: for any other text, in one line.
    """
    if len(text) > MAX_TEXT:
        raise ValueError(f"edits: expected at most {MAX_TEXT} characters, received {len(text)}")
    if not PLAIN.fullmatch(text):
        wrong = next(each for each in text if not PLAIN.fullmatch(each))
        raise ValueError(f"edits: expected names, numbers and words, received {wrong!r}")
    try:
        tree = ast.parse(f"[{' '.join(text.split())}]", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(
            f"edits: expected calls such as Ablate(3, 0), {_received(text)}"
        ) from error
    calls = tree.elts if isinstance(tree, ast.List) else [tree]
    if len(calls) > MAX_EDITS:
        raise ValueError(f"edits: expected at most {MAX_EDITS}, received {len(calls)}")
    try:
        return tuple(_edit(call, named) for call in calls)
    except ValueError as error:
        raise ValueError(f"edits: {error}, {_received(text)}") from error


def edit_values(edit: Any, names: Mapping[str, Any] = {}) -> dict[str, Any]:
    """An edit as values; see `format_edits`."""
    given = {k: [*v] if isinstance(v, tuple) else v for k, v in _given(edit, names).items()}
    return {"edit": type(edit).__name__, **given}


def edit_of(values: Any, named: Mapping[str, Any] = {}) -> Any:
    """The edit of some values.

    Raises:
        ValueError: for values that make none, in one line.
    """
    if not isinstance(values, Mapping) or str(values.get("edit")) not in kinds():
        raise ValueError(f"edits: expected one of {', '.join(kinds())}, {_received(str(values))}")
    kind = kinds()[str(values["edit"])]
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k != "edit"}
    try:
        return kind(**{name: _named(name, value, named) for name, value in given.items()})
    except (TypeError, ValueError) as error:
        problem = str(error).splitlines()[0]
        raise ValueError(f"edits: {kind.__name__}: {problem}, {_received(str(values))}") from error


def _written(edit: Any, names: Mapping[str, Any]) -> str:
    return code_of(type(edit), _given(edit, names))


def _given(edit: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an edit, the names of what it takes from elsewhere among them."""
    if kinds().get(type(edit).__name__) is not type(edit):
        raise ValueError(f"{edit}: expected an edit of {', '.join(kinds())}")
    given = arguments(edit)
    for argument in TAKEN:
        value = given.get(argument)
        if value is not None:
            every = {**names, getattr(value, "name", None): value}
            name = next((key for key, each in every.items() if key and each is value), None)
            if name is None or not PLAIN.fullmatch(name):
                raise ValueError(f"{edit}: its {argument} has no name that can be written")
            given[argument] = name
    return given


def _edit(call: ast.expr, named: Mapping[str, Any]) -> Any:
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise ValueError("expected calls such as Ablate(3, 0)")
    kind = kinds().get(call.func.id)
    if kind is None:
        raise ValueError(f"expected one of {', '.join(kinds())}")
    given = {each.arg: _literal(each.value) for each in call.keywords if each.arg}
    try:
        bound = signature(kind).bind(*map(_literal, call.args), **given).arguments
        return kind(**{name: _named(name, value, named) for name, value in bound.items()})
    except TypeError as error:
        raise ValueError(f"{kind.__name__}: {str(error).splitlines()[0]}") from error


def _literal(node: ast.expr) -> Any:
    """A number, a word, None, or several numbers."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError("expected numbers and words as arguments") from error
    if not isinstance(value, int | float | str | tuple | None):
        raise ValueError("expected numbers and words as arguments")
    return value


def _named(argument: str, name: Any, named: Mapping[str, Any]) -> Any:
    """The value of an argument: of those that are named elsewhere what the name stands for."""
    if argument not in TAKEN or name is None:
        return name
    if name not in named:
        known = ", ".join(named) or "none that is named here"
        raise ValueError(f"{argument}: expected {known}, received {name!r}")
    return named[name]


def _received(text: str) -> str:
    return f"received {text[:EXCERPT]!r}{'…' if len(text) > EXCERPT else ''}"
