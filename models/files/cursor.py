"""Strict reading of binary files: every length is checked against what is left of the file."""

import struct
from pathlib import Path

from models.files.errors import CheckpointError


class Cursor:
    """Reads a file from front to back."""

    def __init__(self, file: Path) -> None:
        self.name = file.name
        self.place = 0
        try:
            self.data = memoryview(file.read_bytes())
        except OSError as error:
            raise self.damaged(error.strerror or "unreadable") from error

    def damaged(self, reason: str) -> CheckpointError:
        """The error that says what is wrong with the file."""
        return CheckpointError(
            f"unreadable checkpoint: {self.name} is damaged ({reason:.100}): fetch it again"
        )

    def take(self, count: int) -> memoryview:
        """The next bytes.

        Raises:
            CheckpointError: if the file ends before.
        """
        left = len(self.data) - self.place
        if not 0 <= count <= left:
            raise self.damaged(f"expected {count:,} bytes at {self.place:,}, {left:,} are left")
        self.place += count
        return self.data[self.place - count : self.place]

    def numbers(self, kind: str, count: int = 1) -> tuple[int, ...]:
        """The next whole numbers, little-endian; `kind` as in `struct`."""
        size = struct.calcsize(f"<{kind}")
        return struct.unpack(f"<{count}{kind}", self.take(size * count))

    def number(self, kind: str) -> int:
        """The next whole number."""
        return self.numbers(kind)[0]

    def text(self, count: int) -> str:
        """The next bytes as a name, without the zero byte that ends it."""
        try:
            string = bytes(self.take(count)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.damaged(f"no name at {self.place - count:,}") from error
        if not string.endswith("\0") or "\0" in string[:-1]:
            raise self.damaged(f"no name at {self.place - count:,}")
        return string[:-1]

    def check_end(self) -> None:
        """Raises CheckpointError unless all has been read."""
        if self.place != len(self.data):
            raise self.damaged(f"{len(self.data) - self.place:,} bytes too many")
