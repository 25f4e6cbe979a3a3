"""JSON objects of files from outside: bounded in size and depth, each refusal one line."""

import json
from pathlib import Path
from typing import Any

from models.files.errors import CheckpointError

MAX_JSON = 2**24  # bytes; a tenth of the memory that its objects may take
MAX_DEPTH = 64  # code that walks an object calls itself once a level


def read_object(file: Path) -> dict[str, Any]:
    """The object in a file.

    Raises:
        CheckpointError: for a file that is too large or too deep, not JSON, or not an object.
    """
    name = file.name
    try:
        if file.stat().st_size > MAX_JSON:
            raise CheckpointError(f"{name} is larger than {MAX_JSON // 2**20} MiB: not read")
        content = json.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise _too_deep(name) from error
    except (ValueError, OSError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{name} is broken ({error!s:.80}): repair or replace it") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{name}: expected an object, received {content!r:.40}")
    level: list[Any] = [content]
    for _ in range(MAX_DEPTH):
        parts = (each.values() if isinstance(each, dict) else each for each in level)
        level = [part for some in parts for part in some if isinstance(part, dict | list)]
        if not level:
            return content
    raise _too_deep(name)


def _too_deep(name: str) -> CheckpointError:
    return CheckpointError(f"{name} is nested too deeply: repair or replace it")
