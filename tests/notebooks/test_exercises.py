"""The exercises: their asserts accept the folded solutions, and name the commonest mistakes."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

FOLDER = Path(__file__).parents[2] / "notebooks/exercises"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
HEADS = "multi_head_self_attention"
# of which function, what is wrong as people write it, and what is said about it
WRONG = [
    ("softmax", "scores - scores.max(-1, keepdim=True).values", "scores", "subtract the largest"),
    ("softmax", "exps.sum(-1, ", "exps.sum(0, ", "of their own row"),
    ("attention", " / math.sqrt(k.shape[-1])", "", "not divided by √d"),
    ("attention", "dim=-1", "dim=-2", "runs over the keys"),
    ("attention", "k.shape[-1]", "v.shape[-1]", "expected\ntensor"),
    ("causal_mask", "tril()", "tril(-1)", "hidden from itself"),
    ("causal_mask", "tril()", "triu()", "sees what comes after"),
    ("padding_mask", ")[:, None]\n", ")\n", "axis of the queries"),
    ("padding_mask", " < ", " >= ", "a real token is hidden"),
    ("padding_mask", " < ", " <= ", "positions begin at 0"),
    ("masked_attention", "-torch.inf", "0", "hidden key has a weight"),
    ("masked_attention", "scores.masked_fill(~visible, -torch.inf), dim=-1)",
     "scores, dim=-1).masked_fill(~visible, 0)", "before the softmax"),
    (HEADS, " / math.sqrt(dim // heads)", "", "not scaled"),
    (HEADS, "dim // heads)", "dim)", "divided by √dim"),
    (HEADS, "view(tokens, heads, -1).transpose(0, 1)", "view(heads, tokens, -1)", "mixed up"),
    (HEADS, "@ v).transpose(0, 1)", "@ v)", "mixed up"),
    (HEADS, " @ w_out.T", "", "expected\ntensor"),
    ("sin_cos_positions", "torch.sin(angles), torch.cos(angles)",
     "torch.cos(angles), torch.sin(angles)", "sine first"),
    ("sin_cos_positions", "arange(positions)", "arange(1, positions + 1)", "counted from 0"),
    ("sin_cos_positions", "torch.arange(0, dim, 2)", "torch.arange(dim // 2)", "exponent 2j / d"),
    ("layer_norm", "((x - mean) ** 2).mean(-1, keepdim=True)", "x.var(-1, keepdim=True)",
     "correction=0"),
    ("layer_norm", "torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)", "under the root"),
    ("layer_norm", "weight * (x - mean)", "(x - mean)", "expected\ntensor"),
    ("post_norm", "norm(x + layer(x))", "x + layer(norm(x))", "as in pre-norm"),
    ("post_norm", "norm(x + layer(x))", "norm(layer(x))", "residual connection is missing"),
    ("pre_norm", "x + layer(norm(x))", "norm(x + layer(x))", "as in post-norm"),
    ("pre_norm", "x + layer", "norm(x) + layer", "add the input itself"),
    ("cross_entropy", "logits - logits.exp().sum(-1, keepdim=True).log()",
     "torch.softmax(logits, -1).log()", "a probability is 0"),
    ("cross_entropy", "smoothing * log.mean(-1)",
     "smoothing * (log.sum(-1) - right) / (logits.shape[-1] - 1)", "the wrong classes alone"),
    ("cross_entropy", "smoothing * log.mean(-1)", "0", ", received"),
    ("top_k_accuracy", ".mean()", ".sum()", "shares from 0 to 1"),
    ("top_k_accuracy", "hits[:, :k].any(-1)", "hits[:, k - 1]", "only the k-th class"),
    ("next_output", "query = x @ w_query.T",
     "query = x @ w_query.T\n    return (keys[:-1] @ query).softmax(0) @ values[:-1], keys, values",
     "sees itself alone"),
    ("next_output", "weights @ values, keys, values", "weights @ values, keys[:-1], values[:-1]",
     "0 keys and 0 values"),
    ("greedy", "None, []", "None, [first]", "not `first` itself"),
    ("greedy", "step(token, cache)", "step(token, None)", "cache that the last one"),
    ("greedy", " and len(written) < limit", "", "after `limit` new tokens"),
    ("patches", "grid.permute(0, 2, 4, 3, 5, 1)", "grid", "pixels of others"),
    ("patches", "(0, 2, 4, 3, 5, 1)", "(0, 2, 4, 1, 3, 5)", "the last axis within a patch"),
    ("with_class_token", "torch.cat([token.expand(len(tokens), 1, -1), tokens], dim=1)",
     "tokens + token", "not added to"),
    ("with_class_token", "[token.expand(len(tokens), 1, -1), tokens]",
     "[tokens, token.expand(len(tokens), 1, -1)]", "comes last"),
    ("add_positions", "[: x.shape[1]]", "[1 : x.shape[1] + 1]", "counted from 0"),
    ("add_positions", "[: x.shape[1]]", "[-x.shape[1] :]", "take the first ones"),
    ("resample", "torch.cat([table[:1], grid[0].permute(1, 2, 0).reshape(side * side, -1)])",
     "torch.cat([grid[0].permute(1, 2, 0).reshape(side * side, -1), table[:1]])",
     "must stay first"),
    ("resample", "permute(1, 2, 0)", "permute(2, 1, 0)", "rows and columns are exchanged"),
    ("resample", "align_corners=False", "align_corners=True", "expected\ntensor"),
    ("encoder_block", "return x + hidden", "return hidden", "residual connections are missing"),
    ("encoder_block", "x = x + multi_head", "x = normed + multi_head", "before each part"),
    ("encoder_block", "F.gelu", "F.relu", "expected\ntensor"),
    ("vit", " + weights[\"positions\"]", "", "positions are not added"),
    ("vit", "x[:, 0]", "x.mean(1)", "class token alone"),
]  # fmt: skip


def sources(path: Path, kind: str) -> list[str]:
    book = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


def solutions(path: Path) -> dict[str, str]:
    """The functions that are folded at the end of a notebook, by name."""
    code = re.findall(r"<details>.*```python\n(.*\n)```", sources(path, "markdown")[-1], re.DOTALL)
    functions = [each for each in ast.parse(code[0]).body if isinstance(each, ast.FunctionDef)]
    return {each.name: f"{ast.get_source_segment(code[0], each)}\n" for each in functions}


def run(path: Path, written: dict[str, str]) -> list[str]:
    """Runs a notebook with a learner's functions; returns the names of those to write."""
    names: dict[str, Any] = {}
    asked = []
    with torch.random.fork_rng():
        for source in sources(path, "code"):
            if "# your code here" in source:
                asked.append(source.removeprefix("def ").partition("(")[0])
                source = written[asked[-1]]
            exec(compile(source, "cell", "exec"), names)
    return asked


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_solutions_are_right(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = run(path, solutions(path))
    assert asked == list(solutions(path))
    assert capsys.readouterr().out.splitlines() == [f"{name} is right" for name in asked]


@pytest.mark.parametrize(("name", "right", "wrong", "said"), WRONG)
def test_a_mistake_is_named(name: str, right: str, wrong: str, said: str) -> None:
    path = next(path for path in NOTEBOOKS if name in solutions(path))
    written = solutions(path)
    assert right in written[name]
    with pytest.raises(AssertionError, match=re.escape(said)):
        run(path, written | {name: written[name].replace(right, wrong)})


def test_each_exercise_has_two_mistakes() -> None:
    names = [name for path in NOTEBOOKS for name in solutions(path)]
    assert len(NOTEBOOKS) == 10
    assert all([each[0] for each in WRONG].count(name) >= 2 for name in names)
