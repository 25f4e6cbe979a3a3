"""Checks the exercises: `python -m notebooks.check [file]` reports what is wrong, and where.

It runs the file on the machine it is called on; the app has nothing to do with it.
"""

import argparse
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.blocks import LayerNorm
from models.positional import sinusoidal
from notebooks.mistakes import ATTENTION, NORM, POSITIONS, SHAPES
from notebooks.slips import Mistake

FILE = Path(__file__).with_name("exercises.py")
TOLERANCE = 1e-4  # float32 sums of some fifty numbers of size 1, in any order
TOKENS, HEADS, WIDTH = 7, 3, 5  # no two alike, so that no axis can be taken for another


@dataclass(frozen=True)
class Exercise:
    """What is to be written, what it is tried with, what should come out, and known slips."""

    name: str
    arguments: tuple[Any, ...]
    expected: Tensor
    axes: tuple[str, str]
    mistakes: tuple[Mistake, ...]


def exercises() -> tuple[Exercise, ...]:
    """All exercises, with the numbers that they are tried with."""
    return _attention(), _positions(), _norm()


def judge(exercise: Exercise, written: Callable[..., Any] | None, file: Path) -> str:
    """One line, or a few: "" if it is right, else what is wrong.

    Args:
        exercise: which.
        written: the learner's function; None if there is none of that name.
        file: where it stands.
    """
    if written is None:
        return f"there is no function called {exercise.name} in {file.name}"
    arguments = [_copy(each) for each in exercise.arguments]
    try:
        found = written(*arguments)
    except NotImplementedError:
        return "not written yet"
    except Exception as error:  # whatever a learner's lines may raise is told, not raised
        return _stopped(error, file)
    if any(not _same(a, b) for a, b in zip(arguments, exercise.arguments, strict=True)):
        return "it changes what it was given: work on new tensors, without in-place operations"
    return _compare(exercise, found)


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the exercises.")
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    file = parser.parse_args().file
    try:
        module = load(file)
    except Exception as error:  # a slip in the file itself, such as a bracket that is missing
        print(f"✗ {file.name} cannot be read: {_stopped(error, file)}")
        return 1
    said = {each.name: judge(each, getattr(module, each.name, None), file) for each in exercises()}
    for name, problem in said.items():
        print(f"✗ {name}: {problem}" if problem else f"✓ {name} is right")
    return int(any(said.values()))


def load(file: Path) -> ModuleType:
    """The learner's file as a module."""
    spec = importlib.util.spec_from_file_location("exercises_of_a_learner", file)
    if spec is None or spec.loader is None:
        raise ValueError(f"expected a Python file, received {file.name}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compare(exercise: Exercise, found: object) -> str:
    expected = exercise.expected
    if not isinstance(found, Tensor):
        return f"expected a tensor, received {_other(found)}"
    if found.shape != expected.shape:
        return (
            f"expected the shape {_shape(expected)} ({' × '.join(exercise.axes)}),"
            f" received {_shape(found)}{_hint(exercise, found)}"
        )
    found = found.detach().float()
    if bool(found.isnan().any()):
        return f"some numbers are NaN, the first at {_place(exercise, found.isnan())}"
    wrong = (found - expected).abs() > TOLERANCE
    if not bool(wrong.any()):
        return ""
    place = tuple(wrong.nonzero()[0].tolist())
    return (
        f"{int(wrong.sum())} of {wrong.numel()} numbers are wrong, the first at"
        f" {_place(exercise, wrong)}: expected {float(expected[place]):.4f}, received"
        f" {float(found[place]):.4f}{_hint(exercise, found)}"
    )


def _other(found: object) -> str:
    """What came instead of a tensor, and what may be the cause."""
    if found is None:
        return "None: is a `return` missing?"
    if isinstance(found, tuple | list):
        return f"a {type(found).__name__} of {len(found)}: return the result alone"
    return f"{type(found).__name__}: work with PyTorch's tensors to the end"


def _hint(exercise: Exercise, found: Tensor) -> str:
    """What to say to a slip that is known; empty for any other."""
    for mistake in exercise.mistakes:
        slip = mistake.gives(*exercise.arguments)
        if slip.shape == found.shape and bool((slip - found).abs().max() <= TOLERANCE):
            return f".\n  {mistake.hint}"
    return ""


def _place(exercise: Exercise, wrong: Tensor) -> str:
    at = wrong.nonzero()[0].tolist()
    return ", ".join(f"{axis} {place}" for axis, place in zip(exercise.axes, at, strict=True))


def _shape(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape)) or "a single number"


def _stopped(error: Exception, file: Path) -> str:
    """Which line of the learner's file it stopped at, and why."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == file]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f"line {lines[-1]}: " if lines else ""
    said = " ".join(str(error).split()).rstrip(".")
    hint = next((f".\n  {hint}" for part, hint in SHAPES.items() if part in said), "")
    return f"{where}{type(error).__name__}: {said}{hint}"


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def _same(a: Any, b: Any) -> bool:
    return a.equal(b) if isinstance(a, Tensor) else a == b


def _drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _attention() -> Exercise:
    dim = HEADS * WIDTH
    config = MultiHeadAttentionConfig(dim=dim, heads=HEADS, qkv_bias=False, out_bias=False)
    layer = MultiHeadAttention(config).eval()
    x, *matrices = (_drawn(n, dim, seed=seed) for seed, n in enumerate((TOKENS, *[dim] * 4)))
    matrices = [0.4 * each for each in matrices]
    parts = (layer.query, layer.key, layer.value, layer.out)
    with torch.no_grad():
        for part, matrix in zip(parts, matrices, strict=True):
            part.get_parameter("weight").copy_(matrix)
        out, _ = layer(x[None])
    given = (x, *matrices, HEADS)
    axes = ("token", "dimension")
    return Exercise("multi_head_self_attention", given, out[0], axes, ATTENTION)


def _positions() -> Exercise:
    count, dim = 11, 6
    table = sinusoidal(count, dim).float()
    return Exercise("sin_cos_positions", (count, dim), table, ("position", "dimension"), POSITIONS)


def _norm() -> Exercise:
    dim, eps = 5, 0.1  # an ε large enough for its place to be seen
    x, weight, bias = (_drawn(*shape, seed=9) for shape in ((TOKENS, dim), (dim,), (dim,)))
    layer = LayerNorm(dim, eps=eps)
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(bias + 1)
        out = layer(x)
    return Exercise("layer_norm", (x, weight, bias + 1, eps), out, ("token", "feature"), NORM)


if __name__ == "__main__":
    sys.exit(main())
