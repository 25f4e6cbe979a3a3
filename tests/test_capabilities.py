"""The list of capabilities: each line names tests that show it, and those tests are there."""

import ast
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIST = (ROOT / "docs" / "capabilities.md").read_text(encoding="utf-8")
LINES = [line for line in LIST.splitlines() if line.startswith("- ")]
LINE = re.compile(r"- [A-Z].+\. — `tests/[\w/]+\.py::test_\w+`(, `tests/[\w/]+\.py::test_\w+`)*")


@cache
def defined(path: str) -> set[str]:
    """Names of the functions of a test file; of none where there is no such file."""
    file = ROOT / path
    tree = ast.parse(file.read_text(encoding="utf-8") if file.is_file() else "")
    return {part.name for part in tree.body if isinstance(part, ast.FunctionDef)}


def named(line: str) -> list[tuple[str, str]]:
    """File and function of each test that a line names."""
    return re.findall(r"`([^`:]+)::(\w+)`", line)


def test_every_capability_names_its_tests() -> None:
    """A sentence, a dash, and one or several tests in backticks."""
    assert LINES
    assert [line for line in LINES if not LINE.fullmatch(line)] == []


def test_the_named_tests_exist() -> None:
    tests = [test for line in LINES for test in named(line)]
    assert [f"{path}::{name}" for path, name in tests if name not in defined(path)] == []


def test_no_capability_is_listed_twice() -> None:
    sentences = [line.partition(" — ")[0] for line in LINES]
    tests = [tuple(sorted(named(line))) for line in LINES]
    assert len(set(sentences)) == len(sentences)
    assert len(set(tests)) == len(tests)


def test_no_folder_of_tests_is_left_out(pytestconfig: pytest.Config) -> None:
    """By default pytest enters no folder named "build", and says nothing."""
    folders = {file.parent.name for file in (ROOT / "tests").rglob("test_*.py")}
    patterns = pytestconfig.getini("norecursedirs")
    assert not any(fnmatch(folder, pattern) for folder in folders for pattern in patterns)
