"""The lines of Python that run, as pages show them."""

import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


@cache
def source(function: Callable[..., Any]) -> tuple[str, int, str]:
    """The file, the first line, and the lines of a function or class."""
    inner = inspect.unwrap(function)
    file = Path(inspect.getsourcefile(inner) or "")
    _, line = inspect.getsourcelines(inner)
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
    return name, line, textwrap.dedent(inspect.getsource(inner))
