"""Source code of functions, for display on pages."""

import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


@cache
def source(function: Callable[..., Any]) -> tuple[str, int, str]:
    """File, first line number and source code of a function or class."""
    inner = inspect.unwrap(function)
    _, line = inspect.getsourcelines(inner)
    file = Path(inspect.getsourcefile(inner) or "")
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
    return name, line, textwrap.dedent(inspect.getsource(inner))
