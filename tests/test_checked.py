"""The checks of shapes and types that all tests run under: each kind of fault is refused."""

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import jaxtyping
import numpy as np
import pytest

from tests import checked

MODULE = """
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from somewhere import Unknown

Matrix = Float[np.ndarray, "row col"]

def product(a: Float[np.ndarray, "row inner"], b: Float[np.ndarray, "inner col"]) -> Matrix:
    return a @ b

def transposed(a: Matrix) -> Matrix | None:
    return a.T

def larger(a: Float[np.ndarray, " n"], *, by: int = 1) -> Float[np.ndarray, " n+1"]:
    return np.zeros(len(a) + by)

def length(text: str) -> int:
    return len(text) or None

def outer(text):
    def inner(number: int) -> int:
        return number
    return inner(text)

def rows(a: Matrix) -> Iterator[int]:
    yield from range(len(a))

def late(first: "Unknown", second: "Late") -> "Late":
    return second

class Late:
    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def name(self) -> str:
        return self.size

    @classmethod
    def of(cls, size: int) -> "Late":
        return cls(size)

@dataclass(frozen=True)
class Pair:
    a: Float[np.ndarray, " n"]
    b: Float[np.ndarray, " n"]

@dataclass(frozen=True)
class Longer(Pair):
    c: int = 0
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Loaded twice: compiled, and from what was kept of that."""
    (tmp_path / "some_checked_module.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    finder = checked.Finder(["some_checked_module"])
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    import_module("some_checked_module")
    del sys.modules["some_checked_module"]
    assert len([*tmp_path.glob("__pycache__/*opt-checked*")]) == 1
    yield import_module("some_checked_module")
    del sys.modules["some_checked_module"]


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape)


def test_what_fits_passes(module: ModuleType) -> None:
    assert module.product(ones(2, 3), ones(3, 5)).shape == (2, 5)
    assert module.transposed(ones(3, 3)).shape == (3, 3)
    assert module.larger(ones(4)).shape == (5,)
    assert [*module.rows(ones(3, 2))] == [0, 1, 2]
    assert module.length("ab") == 2
    assert module.outer(3) == 3
    assert module.late("anything", 3) == 3  # not known when it was defined
    assert module.Late.of(3).size == 3
    assert module.Longer(ones(2), ones(2), 1).c == 1


def test_every_fault_is_refused(module: ModuleType) -> None:
    faults = {
        "an axis of two arguments": lambda: module.product(ones(2, 3), ones(2, 5)),
        "the number of axes": lambda: module.product(ones(2), ones(2, 5)),
        "the element type": lambda: module.product(ones(2, 3).astype(int), ones(3, 5)),
        "an axis of the result": lambda: module.transposed(ones(2, 3)),
        "arithmetic of axes": lambda: module.larger(ones(4), by=2),
        "a keyword's type": lambda: module.larger(ones(4), by="2"),
        "an argument's type": lambda: module.length(b"ab"),
        "the type of a result": lambda: module.length(""),
        "a function in a function": lambda: module.outer("a"),
        "a generator's argument, before its first item": lambda: module.rows(ones(3)),
        "a method": lambda: module.Late("3"),
        "a property": lambda: module.Late(3).name,
        "a class method": lambda: module.Late.of("3"),
        "a dataclass": lambda: module.Pair(ones(2), ones(3)),
        "a dataclass that extends one": lambda: module.Longer(ones(2), ones(2), "c"),
    }
    passed = []
    for name, fault in faults.items():
        try:
            fault()
        except jaxtyping.TypeCheckError:
            continue
        passed.append(name)
    assert not passed


def test_the_source_stays_what_was_written(module: ModuleType) -> None:
    assert inspect.getsource(module.product).startswith("def product(a: Float")
    assert list(inspect.signature(module.larger).parameters) == ["a", "by"]


def test_the_code_of_the_project_is_checked() -> None:
    import torch

    from models.attention import attend

    q = torch.ones(1, 2, 3, 5)
    with pytest.raises(jaxtyping.TypeCheckError):
        attend(q, q, torch.ones(1, 2, 4, 5))
    with pytest.raises(jaxtyping.TypeCheckError):
        attend(q, q, q, mask="causal")  # type: ignore[arg-type]
