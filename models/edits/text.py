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
    """Every edit by its name: what the modules beside this one hold that can be described."""
    modules = pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
    held = (value for module in modules for value in vars(import_module(module.name)).values())
    return {each.__name__: each for each in held if isclass(each) and hasattr(each, "describe")}


def format_edits(edits: Iterable[Any], names: Mapping[str, Any] = {}) -> str:
    """The text of some edits.

    Args:
        edits: those of this project.
        names: of the traces and reference sets in them.

    Raises:
        ValueError: for an edit that has no text, or a trace without a name.
    """
    return ", ".join(code_of(type(edit), _given(edit, names)) for edit in edits)


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
        calls = tree.elts if isinstance(tree, ast.List) else [tree]
        if len(calls) > MAX_EDITS:
            raise ValueError(f"expected at most {MAX_EDITS}, not {len(calls)}")
        return tuple(_edit(*_call(each), named) for each in calls)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise _error("expected calls such as Ablate(3, 0)", text) from error
    except ValueError as error:
        raise _error(str(error), text) from error


def edit_values(edit: Any, names: Mapping[str, Any] = {}) -> dict[str, Any]:
    """An edit as values; see `format_edits`."""
    given = {k: [*v] if isinstance(v, tuple) else v for k, v in _given(edit, names).items()}
    return {"edit": type(edit).__name__, **given}


def edit_of(values: Any, named: Mapping[str, Any] = {}) -> Any:
    """The edit of some values.

    Raises:
        ValueError: for values that make none, in one line.
    """
    given = {**values} if isinstance(values, Mapping) else {}
    try:
        return _edit(str(given.pop("edit", "")), (), given, named)
    except ValueError as error:
        raise _error(str(error), str(values)) from error


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


def _call(call: ast.expr) -> tuple[str, list[Any], dict[str, Any]]:
    """The name and the arguments of a call: numbers, words, None, or several numbers."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise ValueError("expected calls such as Ablate(3, 0)")
    try:
        values = [ast.literal_eval(each) for each in call.args]
        by_name = {each.arg or "**": ast.literal_eval(each.value) for each in call.keywords}
    except (ValueError, TypeError) as error:
        raise ValueError("expected numbers and words as arguments") from error
    if not all(isinstance(each, int | float | str | tuple | None) for each in values):
        raise ValueError("expected numbers and words as arguments")
    return call.func.id, values, by_name


def _edit(
    name: str, values: Iterable[Any], by_name: Mapping[str, Any], named: Mapping[str, Any]
) -> Any:
    """The edit of a name and its arguments, what is named elsewhere in its place."""
    kind = kinds().get(name)
    if kind is None:
        raise ValueError(f"expected one of {', '.join(kinds())}")
    try:
        given = signature(kind).bind(*values, **by_name).arguments
        for argument in {*TAKEN} & {*given}:
            if given[argument] is not None and given[argument] not in named:
                known = ", ".join(named) or "none that is named here"
                raise ValueError(f"{argument}: expected {known}, received {given[argument]!r}")
            given[argument] = named.get(given[argument])
        return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})
    except TypeError as error:
        raise ValueError(f"{name}: {str(error).splitlines()[0]}") from error


def _error(problem: str, text: str) -> ValueError:
    excerpt = f"{text[:EXCERPT]!r}{'…' if len(text) > EXCERPT else ''}"
    return ValueError(f"edits: {problem}, received {excerpt}")
