"""An exercise, and the verdict on a learner's function.

A wrong result is compared with that of the reference with every known mistake, and with every two
of them together: where it agrees, the hints of these mistakes are given.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations
from typing import Any

import torch
from torch import Tensor

TOLERANCE = 1e-4  # float32 sums of some fifty numbers of size 1, in any order
# what PyTorch says to a mistake in the shapes, and what to say about it
SHAPES = {
    "must match the size of": "`keepdim=True` leaves a mean or a variance its axis, so that it"
    " fits to x again; and in attention, look at the shapes: print(q.shape).",
    "Expected size for first two dimensions": "In q @ k the last two axes of k have to be"
    " exchanged: k.transpose(-2, -1).",
    "cannot be multiplied": "Print the shapes of both: for `x @ w.T` the last axes must be equal.",
    "is invalid for input of size": "A reshape has to keep how many numbers there are: heads times"
    " (dim / heads) is dim.",
}


@dataclass(frozen=True)
class Mistake:
    """A known mistake: what it changes in the reference, and the hint."""

    name: str
    changes: Mapping[str, Any]
    hint: str


def call(written: Callable[..., Any], *arguments: Any) -> Any:
    """How most exercises try a function."""
    return written(*arguments)


@dataclass(frozen=True)
class Exercise:
    """What is to be written, and how it is judged.

    Attributes:
        name: of the function.
        notebook: the name of its notebook, without the ending.
        arguments: what it is tried with.
        expected: what comes out, from an independent source.
        axes: of the result.
        reference: the same function with a keyword for every mistake.
        mistakes: the known ones.
        shapes: hints to errors of PyTorch, before those that hold for every exercise.
        infinite: the hint to a result that is not finite.
        tried: calls the function on the arguments.
    """

    name: str
    notebook: str
    arguments: tuple[Any, ...]
    expected: Tensor
    axes: tuple[str, ...]
    reference: Callable[..., Any]
    mistakes: tuple[Mistake, ...]
    shapes: Mapping[str, str] = field(default_factory=dict)
    infinite: str = ""
    tried: Callable[..., Any] = call

    def with_mistakes(self, *mistakes: Mistake) -> Tensor | None:
        """What these mistakes give together; None if they exclude each other."""
        changes = {name: value for each in mistakes for name, value in each.changes.items()}
        if len(changes) < sum(len(each.changes) for each in mistakes):
            return None
        try:
            return self.tried(partial(self.reference, **changes), *self.arguments)
        except (RuntimeError, IndexError, ValueError):
            return None


def judge(exercise: Exercise, written: Callable[..., Any] | None) -> str:
    """What is wrong with a function, in one line or a few; "" if it is right."""
    if written is None:
        return f"there is no function called {exercise.name}"
    arguments = [_copy(each) for each in exercise.arguments]
    try:
        result = exercise.tried(written, *arguments)
    except NotImplementedError:
        return "not written yet"
    except Exception as error:  # whatever a learner's lines may raise is reported, not raised
        return stopped(error, _file(written), {**SHAPES, **exercise.shapes})
    if any(not _same(a, b) for a, b in zip(arguments, exercise.arguments, strict=True)):
        return "it changes what it was given: work on new tensors, without in-place operations"
    return _compare(exercise, result)


def stopped(error: Exception, file: str, shapes: Mapping[str, str]) -> str:
    """The line of the learner's file at which it stopped, and why."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    cell = f"{file}, " if file.startswith("cell ") else ""
    where = f"{cell}line {lines[-1]}: " if lines else ""
    said = " ".join(str(error).split()).rstrip(".")
    hint = next((f".\n  {hint}" for part, hint in shapes.items() if part in said), "")
    return f"{where}{type(error).__name__}: {said}{hint}"


def _compare(exercise: Exercise, result: object) -> str:
    expected = exercise.expected
    if not isinstance(result, Tensor):
        return f"expected a tensor, received {_other(result)}"
    result = result.detach().float()
    if result.shape != expected.shape:
        axes = f" ({' × '.join(exercise.axes)})" if exercise.axes else ""
        return (
            f"expected the shape {_shape(expected)}{axes}, received {_shape(result)}"
            f"{_hints(exercise, result)}"
        )
    broken = ~result.isfinite()
    if bool(broken.any()):
        hint = f".\n  {exercise.infinite}" if exercise.infinite else ""
        return f"some numbers are NaN or infinite, the first{_place(exercise, broken)}{hint}"
    wrong = (result - expected).abs() > TOLERANCE
    if not bool(wrong.any()):
        return ""
    at = tuple(wrong.nonzero()[0].tolist())
    return (
        f"{int(wrong.sum())} of {wrong.numel()} numbers are wrong, the first"
        f"{_place(exercise, wrong)}: expected {float(expected[at]):.4f}, received"
        f" {float(result[at]):.4f}{_hints(exercise, result)}"
    )


def _hints(exercise: Exercise, result: Tensor) -> str:
    """The hints of the known mistake that gives this result, or of two together; else ""."""
    for mistakes in groups(exercise):
        given = exercise.with_mistakes(*mistakes)
        if given is not None and same_numbers(given, result):
            return "".join(f".\n  {each.hint.rstrip('.')}" for each in mistakes) + "."
    return ""


def groups(exercise: Exercise) -> Iterator[tuple[Mistake, ...]]:
    """Every mistake alone, then every two."""
    return chain(combinations(exercise.mistakes, 1), combinations(exercise.mistakes, 2))


def same_numbers(a: Tensor, b: Tensor) -> bool:
    """Whether two results agree up to rounding."""
    return a.shape == b.shape and bool(((a.float() - b.float()).abs() <= TOLERANCE).all())


def _other(result: object) -> str:
    """What came instead of a tensor, and what may be the cause."""
    if result is None:
        return "None: is a `return` missing?"
    if isinstance(result, tuple | list):
        return f"a {type(result).__name__} of {len(result)}: return the result alone"
    return f"{type(result).__name__}: work with PyTorch's tensors to the end"


def _place(exercise: Exercise, wrong: Tensor) -> str:
    at = wrong.nonzero()[0].tolist()
    pairs = [f"{axis} {place}" for axis, place in zip(exercise.axes, at, strict=True)]
    return f" at {', '.join(pairs)}" if pairs else ""


def _shape(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape)) or "of a single number"


def _file(written: Callable[..., Any]) -> str:
    code = getattr(written, "__code__", None)
    return code.co_filename if code else ""


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return a.shape == b.shape and bool(torch.equal(a, b))
    return a is b or a == b


def random(*shape: int, seed: int) -> Tensor:
    """Normal random numbers of a seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
