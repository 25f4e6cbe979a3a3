"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class OutputError(OSError):
    """A file that could not be written."""

    def __str__(self) -> str:
        return f"output: {self.filename}: {self.strerror}"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path to write to, whose file takes the name of another once it is complete.

    A full disk or an interruption leaves what was there before, and nothing else.

    Raises:
        OutputError: if the file cannot be written.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    temporary = target.with_name(f".{secrets.token_hex(6)}{target.suffix}")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        raise OutputError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes | str) -> None:
    """Writes a file of bytes, or of text in UTF-8; see `whole`."""
    with whole(path) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)
