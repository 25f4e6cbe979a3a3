"""The exercises: a right solution passes, and each typical wrong one gets its own hint."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import start
from notebooks import check, slips
from notebooks.check import Exercise, exercises, judge

EXERCISES = {each.name: each for each in exercises()}
RIGHT = """
import torch, math

def multi_head_self_attention(x, w_query, w_key, w_value, w_out, heads):
    tokens, dim = x.shape
    q, k, v = ((x @ w.T).view(tokens, heads, -1).transpose(0, 1) for w in (w_query, w_key, w_value))
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(dim // heads), dim=-1)
    return (weights @ v).transpose(0, 1).reshape(tokens, dim) @ w_out.T

def sin_cos_positions(positions, dim):
    table = torch.zeros(positions, dim)
    for p in range(positions):
        for j in range(0, dim, 2):
            table[p, j] = math.sin(p / 10000 ** (j / dim))
            table[p, j + 1] = math.cos(p / 10000 ** (j / dim))
    return table

def layer_norm(x, weight, bias, eps):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias
"""
# wrong as people write it, and what the hint must say
WRONG = [
    ("math.sqrt(dim // heads)", "1", "not scaled"),
    ("math.sqrt(dim // heads)", "math.sqrt(dim)", "its own width counts"),
    ("math.sqrt(dim // heads)", "(dim // heads)", "take its square root"),
    ("dim=-1)", "dim=-2)", "over the queries"),
    ("dim=-1)", "dim=0)", "over the heads"),
    ("q @ k.transpose(1, 2)", "k @ q.transpose(1, 2)", "Queries and keys are swapped"),
    (".view(tokens, heads, -1).transpose(0, 1)", ".view(heads, tokens, -1)", "mixes tokens: first"),
    ("(weights @ v).transpose(0, 1)", "(weights @ v)", "exchange the first two axes back"),
    (" @ w_out.T", "", "go through `w_out`"),
    ("math.sin(p /", "math.sin((p + 1) /", None),
    ("table[p, j + 1] = math.cos(p / 10000 ** (j / dim))",
     "table[p, j + 1] = math.cos(p / 10000 ** ((j + 1) / dim))", "another exponent"),
    ("for p in range(positions):", "for p in range(1, positions + 1):", "line 1"),
    ("table[p, j] = math.sin(p / 10000 ** (j / dim))\n            table[p, j + 1] = math.cos",
     "table[p, j + 1] = math.sin(p / 10000 ** (j / dim))\n            table[p, j] = math.cos",
     "swapped"),
    ("    return table", "    return torch.cat([table[:, 0::2], table[:, 1::2]], 1)", "left half"),
    ("    variance = ((x - mean) ** 2).mean(-1, keepdim=True)",
     "    variance = x.var(-1, keepdim=True)", "dim − 1"),
    ("torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)", "under the root"),
    ("torch.sqrt(variance + eps)", "(variance + eps)", "divide by its root"),
    ("torch.sqrt(variance + eps)", "torch.sqrt(variance)", "ε is missing"),
    ("weight * (x - mean) / torch.sqrt(variance + eps) + bias",
     "(x - mean) / torch.sqrt(variance + eps)", "are not used"),
    ("weight * (x - mean)", "weight * x", "mean is not subtracted"),
    ("weight * (x - mean)", "(x - mean)", "`weight` is not used"),
    ("(variance + eps) + bias", "(variance + eps)", "`bias` is not used"),
    ("mean = x.mean(-1, keepdim=True)", "mean = x.mean(-1)", "leaves a mean or a variance"),
    ("k.transpose(1, 2)", "k", "two axes of k"),
    ("(x @ w.T)", "(x @ w)", "`w_query`, `w_key` and `w_value`"),
    (" @ w_out.T", " @ w_out", "`w_out` is used"),
    (".view(tokens, heads, -1).transpose(0, 1)", "[None]", "only one head"),
    ("10000", "1000", "The base"),
    ("j / dim", "2 * j / dim", "twice too large"),
    ("j / dim", "j / 2 / dim", "The exponent is j / dim"),
    ("sin(p / 10000 ** (j / dim))", "sin(math.radians(p) / 10000 ** (j / dim))", None),
    ("torch.zeros(positions, dim)", "torch.zeros(positions, dim).int()", "whole numbers"),
]  # fmt: skip


def said(tmp_path: Path, text: str) -> dict[str, str]:
    file = tmp_path / "mine.py"
    file.write_text(text, encoding="utf-8")
    module = check.load(file)
    return {n: judge(e, getattr(module, n, None), file) for n, e in EXERCISES.items()}


def test_the_right_solution_passes(tmp_path: Path) -> None:
    assert said(tmp_path, RIGHT) == dict.fromkeys(EXERCISES, "")


@pytest.mark.parametrize(("right", "wrong", "hint"), WRONG)
def test_a_wrong_solution_is_told_what_is_wrong(
    tmp_path: Path, right: str, wrong: str, hint: str | None
) -> None:
    assert RIGHT.count(right) >= 1
    problems = [line for line in said(tmp_path, RIGHT.replace(right, wrong)).values() if line]
    (problem,) = problems
    assert "wrong, the first at" in problem or "line " in problem
    assert hint is None or hint in problem


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda each: each.name)
def test_every_slip_is_wrong_and_told_apart_from_all_others(exercise: Exercise) -> None:
    given = [mistake.gives(*exercise.arguments) for mistake in exercise.mistakes]
    for number, (slip, mistake) in enumerate(zip(given, exercise.mistakes, strict=True)):
        problem = judge(exercise, lambda *_, slip=slip: slip, Path("mine.py"))
        assert mistake.hint in problem
        for other in given[:number]:
            assert (slip - other).abs().max() > 10 * check.TOLERANCE
    hints = [mistake.hint for mistake in exercise.mistakes]
    assert len(set(hints)) == len(hints)


def test_the_oracles_of_the_slips_are_right_without_a_slip() -> None:
    for name, gives in (
        ("multi_head_self_attention", slips.attention),
        ("sin_cos_positions", slips.positions),
        ("layer_norm", slips.normed),
    ):
        exercise = EXERCISES[name]
        assert (gives(*exercise.arguments) - exercise.expected).abs().max() < 1e-5


def test_other_trouble_is_told_in_one_line() -> None:
    exercise, file = EXERCISES["layer_norm"], Path("mine.py")

    def spoils(x, weight, bias, eps):
        x -= 1
        return x

    assert judge(exercise, None, file) == "there is no function called layer_norm in mine.py"
    assert judge(exercise, lambda *_: None, file).startswith(
        "expected a tensor, received None: is a"
    )
    assert "a tuple of 2: return the result alone" in judge(exercise, lambda x, *_: (x, x), file)
    assert "PyTorch's tensors" in judge(exercise, lambda x, *_: x.numpy(), file)
    assert "expected the shape 7 × 5" in judge(exercise, lambda x, *_: x.T, file)
    assert "NaN, the first at token 0, feature 0" in judge(
        exercise, lambda x, *_: x * torch.nan, file
    )
    assert judge(exercise, spoils, file).startswith("it changes what it was given")
    assert "ZeroDivisionError" in judge(exercise, lambda *_: 1 / 0, file)


def test_the_command() -> None:
    command = [sys.executable, "-m", "notebooks.check"]
    done = subprocess.run(command, cwd=start.ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [f"✗ {name}: not written yet" for name in EXERCISES]


def test_the_command_on_a_file_with_a_slip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    monkeypatch.setattr(sys, "argv", ["notebooks.check", str(file)])
    for text, code, told in (
        (RIGHT, 0, "✓ layer_norm is right"),
        (RIGHT + "\n(", 1, "cannot be read: line"),
        (RIGHT.replace("x.shape", "x.shap"), 1, "line 5: AttributeError"),
    ):
        file.write_text(text, encoding="utf-8")
        assert check.main() == code
        assert told in capsys.readouterr().out
