"""The exercises: right solutions pass, and each typical wrong one gets its own hints."""

import ast
import inspect
import json
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from notebooks import check, solutions
from notebooks.check import exercises, of_notebook
from notebooks.grading.exercise import TOLERANCE, Exercise, judge, same_numbers

EXERCISES = exercises()
IMPORTS = "import math\nimport torch\nimport torch.nn.functional as F\n"
HEADS, NORM, WAVES = "multi_head_self_attention", "layer_norm", "sin_cos_positions"
# of which function, what is wrong as people write it, and what the hints must say
WRONG = [
    (HEADS, "math.sqrt(dim // heads)", "1", ["not scaled"]),
    (HEADS, "math.sqrt(dim // heads)", "math.sqrt(dim)", ["its own width counts"]),
    (HEADS, "math.sqrt(dim // heads)", "(dim // heads)", ["take its square root"]),
    (HEADS, "dim=-1)", "dim=-2)", ["over the queries"]),
    (HEADS, "dim=-1)", "dim=0)", ["over the heads"]),
    (HEADS, "q @ k.transpose(1, 2)", "k @ q.transpose(1, 2)", ["Queries and keys are swapped"]),
    (HEADS, ".view(tokens, heads, -1).transpose(0, 1)", ".view(heads, tokens, -1)",
     ["mixes tokens: first"]),
    (HEADS, "(weights @ v).transpose(0, 1)", "(weights @ v)", ["exchange the first two axes back"]),
    (HEADS, " @ w_out.T", "", ["go through `w_out`"]),
    (HEADS, "k.transpose(1, 2)", "k", ["two axes of k"]),
    (HEADS, "(x @ w.T)", "(x @ w)", ["`w_query`, `w_key` and `w_value`"]),
    (HEADS, " @ w_out.T", " @ w_out", ["`w_out` is used"]),
    (HEADS, ".view(tokens, heads, -1).transpose(0, 1)", "[None]", ["only one head"]),
    (WAVES, "10000", "1000", ["The base"]),
    (WAVES, "torch.arange(0, dim, 2)", "2 * torch.arange(0, dim, 2)", ["twice too large"]),
    (WAVES, "torch.arange(0, dim, 2)", "torch.arange(dim // 2)", ["The exponent is j / dim"]),
    (WAVES, "torch.arange(positions)", "torch.arange(1, positions + 1)", ["counted from 0"]),
    (WAVES, "[:, None]", "", ["an axis of their own, `torch.arange(positions)[:, None]`"]),
    (WAVES, "torch.sin(angles), torch.cos(angles)", "torch.cos(angles), torch.sin(angles)",
     ["swapped"]),
    (WAVES, "return table", "return torch.cat([table[:, 0::2], table[:, 1::2]], 1)",
     ["left half"]),
    (WAVES, "torch.zeros(positions, dim)", "torch.zeros(positions, dim).int()", ["whole numbers"]),
    (NORM, "((x - mean) ** 2).mean(-1, keepdim=True)", "x.var(-1, keepdim=True)", ["dim − 1"]),
    (NORM, "torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)", ["under the root"]),
    (NORM, "torch.sqrt(variance + eps)", "(variance + eps)", ["divide by its root"]),
    (NORM, "torch.sqrt(variance + eps)", "torch.sqrt(variance)", ["ε is missing"]),
    (NORM, "weight * (x - mean)", "weight * x", ["mean is not subtracted"]),
    (NORM, "weight * (x - mean)", "(x - mean)", ["`weight` is not used"]),
    (NORM, "(variance + eps) + bias", "(variance + eps)", ["`bias` is not used"]),
    (NORM, "mean = x.mean(-1, keepdim=True)", "mean = x.mean(-1)", ["leaves a mean or a variance"]),
    ("softmax", "scores - scores.max(-1, keepdim=True).values", "scores", ["subtract the largest"]),
    ("softmax", "(-1, keepdim=True)\n", "(0, keepdim=True)\n", ["sum of their column"]),
    ("padding_mask", "lengths[:, None])", "lengths)", ["`lengths[:, None]`"]),
    ("padding_mask", ")[:, None]\n", ")\n", ["in the middle"]),
    ("masked_attention", "-torch.inf", "0", ["exp(0) = 1"]),
    ("masked_attention", "~visible", "visible", ["The visible keys are hidden"]),
    ("cross_entropy", "smoothing * log.mean(-1)", "0", []),
    ("next_output", "(x @ w_key.T)[None]", "x @ w_key.T", ["`key[None]`"]),
    ("next_output", "return weights @ values, keys, values", "return weights @ values",
     ["three things"]),
    ("greedy", "token = int(logits.argmax())\n", "token = int(logits.argmin())\n",
     ["least likely"]),
    ("patches", "(0, 2, 4, 3, 5, 1)", "(0, 2, 4, 1, 3, 5)", ["channels come first"]),
    ("with_class_token", "token.expand(len(tokens), 1, -1)", "token[None, None]",
     ["one class token per image"]),
    ("add_positions", "[: x.shape[1]]", "", ["more rows than there are tokens"]),
    ("resample", "align_corners=False", "align_corners=True", ["corners are aligned"]),
    ("encoder_block", "F.gelu", "F.relu", ["a ReLU"]),
    ("vit", ") + weights[\"positions\"]", ")", ["positions are not added"]),
]  # fmt: skip
# two at once: both are named
TWO_WRONG = [
    (HEADS, {"math.sqrt(dim // heads)": "1", " @ w_out.T": ""}, ["not scaled", "last step"]),
    (HEADS, {"dim=-1)": "dim=-2)", "(x @ w.T)": "(x @ w)"}, ["over the queries", "wrong way"]),
    (NORM, {"((x - mean) ** 2).mean(-1, keepdim=True)": "x.var(-1, keepdim=True)", " + eps": ""},
     ["dim − 1", "ε is missing"]),
    (WAVES, {"10000": "1000", "arange(positions)": "arange(1, positions + 1)"},
     ["The base", "counted from 0"]),
    ("attention", {" / math.sqrt(k.shape[-1])": "", "dim=-1": "dim=-2"},
     ["not scaled", "over the queries"]),
    ("vit", {") + weights[\"positions\"]": ")", "x[:, 0]": "x.mean(1)"},
     ["positions are not added", "reads the mean"]),
]  # fmt: skip


def source(name: str) -> str:
    return inspect.getsource(getattr(solutions, name))


def written(name: str, text: str) -> Callable[..., Any]:
    """The function of a learner's cell."""
    names: dict[str, Any] = {**vars(solutions)}
    exec(compile(IMPORTS + text, "cell 3", "exec"), names)
    return names[name]


def said(name: str, text: str) -> str:
    return judge(EXERCISES[name], written(name, text))


def filled(path: Path, folder: Path) -> Path:
    """A copy of a notebook in which every cell to fill in holds the model solution."""
    book = json.loads(path.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and "# your code here" in text:
            (function,) = ast.parse(text).body
            assert isinstance(function, ast.FunctionDef)
            cell["source"] = [IMPORTS + source(function.name)]
    copy = folder / path.name
    copy.write_text(json.dumps(book), encoding="utf-8")
    return copy


BOOKS = sorted(check.FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_with_the_solutions_is_right(path: Path, tmp_path: Path) -> None:
    names = [each.name for each in EXERCISES.values() if each.notebook == path.stem]
    assert list(of_notebook(filled(path, tmp_path))) == [f"✓ {name} is right" for name in names]


def test_every_exercise_stands_in_its_notebook_with_its_check() -> None:
    assert {each.notebook for each in EXERCISES.values()} == {path.stem for path in BOOKS}
    for exercise in EXERCISES.values():
        text = "\n".join(check.cells(check.FOLDER / f"{exercise.notebook}.ipynb"))
        assert f"def {exercise.name}(" in text
        assert f'check("{exercise.name}", {exercise.name})' in text


def test_the_notebooks_hold_no_results() -> None:
    for path in BOOKS:
        book = json.loads(path.read_text(encoding="utf-8"))
        assert not any(cell.get("outputs") for cell in book["cells"])


@pytest.mark.parametrize(("name", "right", "wrong", "hints"), WRONG)
def test_a_mistake_is_named(name: str, right: str, wrong: str, hints: list[str]) -> None:
    text = source(name)
    assert right in text
    problem = said(name, text.replace(right, wrong))
    assert problem
    assert "cell 3, line " in problem or "expected" in problem or "NaN" in problem
    assert all(hint in problem for hint in hints), problem


@pytest.mark.parametrize(("name", "changes", "hints"), TWO_WRONG)
def test_two_mistakes_are_both_named(name: str, changes: dict[str, str], hints: list[str]) -> None:
    text = source(name)
    for right, wrong in changes.items():
        assert right in text
        text = text.replace(right, wrong)
    problem = said(name, text)
    assert all(hint in problem for hint in hints), problem


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda each: each.name)
def test_every_known_mistake_is_wrong_and_told_apart_from_all_others(exercise: Exercise) -> None:
    right = exercise.with_mistakes()
    assert right is not None
    assert same_numbers(right, exercise.expected)
    given = [exercise.with_mistakes(mistake) for mistake in exercise.mistakes]
    for number, (slip, mistake) in enumerate(zip(given, exercise.mistakes, strict=True)):
        assert slip is not None
        problem = judge(exercise, partial(exercise.reference, **mistake.changes))
        assert mistake.hint.rstrip(".") in problem
        for other in (*given[:number], exercise.expected):
            assert other is not None
            if slip.shape == other.shape:
                assert float((slip.float() - other.float()).abs().max()) > 10 * TOLERANCE
    hints = [mistake.hint for mistake in exercise.mistakes]
    assert len(set(hints)) == len(hints)


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda each: each.name)
def test_neighbouring_mistakes_together_get_a_hint(exercise: Exercise) -> None:
    for pair in pairwise(exercise.mistakes):
        both = exercise.with_mistakes(*pair)
        if both is None or not bool(both.isfinite().all()):
            continue
        changes = {name: value for each in pair for name, value in each.changes.items()}
        problem = judge(exercise, partial(exercise.reference, **changes))
        assert any(mistake.hint.rstrip(".") in problem for mistake in exercise.mistakes), problem


def test_other_trouble_is_reported_in_one_line() -> None:
    exercise = EXERCISES["layer_norm"]

    def spoils(x, weight, bias, eps):
        x -= 1
        return x

    assert judge(exercise, None) == "there is no function called layer_norm"
    assert judge(exercise, lambda *_: None).startswith("expected a tensor, received None: is a")
    assert "a tuple of 2: return the result alone" in judge(exercise, lambda x, *_: (x, x))
    assert "PyTorch's tensors" in judge(exercise, lambda x, *_: x.numpy())
    assert "expected the shape 7 × 5" in judge(exercise, lambda x, *_: x.T)
    assert "NaN or infinite, the first at token 0, feature 0" in judge(
        exercise, lambda x, *_: x * torch.nan
    )
    assert judge(exercise, spoils).startswith("it changes what it was given")
    assert "ZeroDivisionError" in judge(exercise, lambda *_: 1 / 0)


def test_in_a_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    check.check("softmax", solutions.softmax)
    check.check("softmax", lambda scores: scores)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "✓ softmax is right"
    assert lines[1].startswith("✗ softmax: ")
    with pytest.raises(ValueError, match="expected one of softmax, attention"):
        check.check("sofmax", solutions.softmax)


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["notebooks.check"])
    assert check.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"✗ {name}: not written yet" for name in EXERCISES]


def test_the_command_on_other_folders_and_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = filled(BOOKS[0], tmp_path)
    text = copy.read_text(encoding="utf-8")
    folder = ["--folder", str(tmp_path)]
    for changed, options, code, told in (
        (text, folder, 0, "✓ softmax is right"),
        (text.replace("q @ k", "q @ (k"), folder, 1, "01-attention.ipynb: cell 5, line"),
        (text.replace("k.shape", "k.shap"), folder, 1, "cell 5, line 5: AttributeError"),
        (text, ["causal_mask"], 1, "✗ causal_mask: not written yet"),
        (text, ["--solutions", "05-block"], 0, "# ✓ pre_norm is right"),
    ):
        copy.write_text(changed, encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["notebooks.check", *options])
        assert check.main() == code
        assert told in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["notebooks.check", "--solutions"])
    assert check.main() == 0
    assert capsys.readouterr().out.count("is right") == len(EXERCISES)
    monkeypatch.setattr(sys, "argv", ["notebooks.check", "nothing"])
    with pytest.raises(SystemExit):
        check.main()
    assert "expected names among softmax" in capsys.readouterr().err
