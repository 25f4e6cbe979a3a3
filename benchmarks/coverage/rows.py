"""Rows of the table in a file, so that a run that was stopped can go on."""

import json
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.coverage.trying import Row

ROOT = Path(__file__).parents[2]
CODE = ("models", "benchmarks/coverage")


class RowFile:
    """A file of JSON lines: what the rows were made with, then one row each."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Row]:
        """The rows by name; the file is begun if it is not there.

        Raises:
            SystemExit: if it was made by other code or other libraries.
        """
        header = made_with()
        if not self.path.exists():
            self._append(header)
            return {}
        first, *lines = self.path.read_text(encoding="utf-8").splitlines()
        if json.loads(first) != header:
            raise SystemExit(f"{self.path} was made by other code or libraries: begin another file")
        rows = [_row(json.loads(line)) for line in lines]
        return {row.name: row for row in rows}

    def add(self, row: Row) -> None:
        self._append(asdict(row))

    def _append(self, value: object) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(value) + "\n")


def made_with() -> dict[str, str]:
    """Versions of the libraries, and a digest of the code that the rows depend on."""
    code = sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            code.update(path.read_bytes())
    libraries = {name: version(name) for name in ("torch", "transformers")}
    return {**libraries, "code": code.hexdigest()}


def _row(fields: dict[str, Any]) -> Row:
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Row(**{**fields, **lists})
