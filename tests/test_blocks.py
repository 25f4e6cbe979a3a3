"""The code of README, docs and notebooks runs, and gives what its comments say.

It takes `headscope` alone, so that tests/test_wheel.py runs this file with the installed package.
"""

import ast
import json
import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

import headscope as hs

ROOT = Path(__file__).parents[1]
BLOCKS = {
    path.stem: re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TEXT = "The animal didn't cross the street because it was too tired."


def values(code: str, names: dict[str, Any]) -> list[Any]:
    """Runs code line by line; the values of its expressions."""
    found = []
    for line in code.splitlines():
        try:
            expression = compile(line, "README.md", "eval")
        except SyntaxError:
            exec(line, names)
        else:
            found.append(eval(expression, names))
    return found


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the README's block leaves, and what the later ones name."""
    found: dict[str, Any] = {"torch": torch, "text": TEXT}
    values(BLOCKS["README"][0], found)
    return found


def test_a_trace() -> None:
    labels, weights, shape, path, explorer = values(BLOCKS["README"][0], {})
    assert labels[:4] == ["[CLS]", "The", "animal", "didn"]
    assert weights.sum(-1) == pytest.approx(torch.ones(16), abs=1e-5)
    assert shape == (12, 16, 16)
    assert path == "fused"
    assert explorer.comm is None or explorer.model_id


def test_all_layers_together(names: dict[str, Any]) -> None:
    joint, norms, curves = values(BLOCKS["using"][0], names)
    assert joint.shape == (16, 16)
    assert norms.shape == (12, 16, 16)
    assert names["found"].tokens.shape == (16,)
    assert curves is not None


def test_sweeps_of_several_prompts() -> None:
    model = hs.load(hs.DecoderConfig(vocab=31, dim=12, heads=2, depth=3))
    names = {"hs": hs, "model": model, "texts": ["a b c", "d e"], "ids": [5, 7]}
    [(mean, margin)] = values(BLOCKS["using"][1], names)
    assert mean.shape == margin.shape == (3, 2)


def test_weights_that_somebody_already_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = transformers.BertConfig(
        vocab_size=53, hidden_size=12, num_hidden_layers=4, num_attention_heads=2
    )
    network = transformers.BertModel(config)
    network.set_attn_implementation("eager")
    names = {
        "hs": hs,
        "network": network.eval(),
        "inputs": {"input_ids": torch.tensor([[5, 7, 9]])},
        "tokenizer": SimpleNamespace(
            convert_ids_to_tokens=lambda ids: [f"t{int(id)}" for id in ids]
        ),
    }
    explorer, figure, path, table = values(BLOCKS["using"][2], names)
    assert explorer.entry.view.labels == names["t"].labels == ["t5", "t7", "t9"]
    assert figure.axes
    assert path.stat().st_size > 1000
    assert len(table) == 8


def test_any_transformers_model(names: dict[str, Any]) -> None:
    rooms = hs.load.__module__.removesuffix("loading.load")
    catalogue = import_module(f"{rooms}catalogue")
    path = catalogue.folder(catalogue.entry("minilm"))
    code = re.sub('"path/to/folder"|"owner/name"', repr(str(path)), BLOCKS["models"][0])
    left, difference = values(code.replace('"cuda"', '"cpu"'), dict(names))
    assert left.shape == (4, 384)
    assert difference < 0.05  # of numbers up to 3 in bfloat16, which has three digits


def test_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder, top, commas, pair, dogs, *rest = values(BLOCKS["corpus"][0], {})
    alike, compared, examples = rest
    assert folder == Path("run")
    assert len(top) == len(alike) == 10
    assert len(commas)
    assert pair.empty  # neither text has “of”
    assert dogs.empty  # nor a dog that runs
    assert (compared["difference"] == 0).all()
    assert set(examples["text"]) <= {0, 1}


def cells(path: Path) -> list[str]:
    """The code of a notebook."""
    book = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(each["source"]) for each in book["cells"] if each["cell_type"] == "code"]


def run(source: str, names: dict[str, Any]) -> Any:
    """The value of a cell's last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path: Path) -> None:
    names: dict[str, Any] = {}
    shown = 0
    for source in cells(path):
        value = run(source, names)
        if hasattr(value, "_repr_mimebundle_"):
            data, _ = value._repr_mimebundle_()
            assert {"application/vnd.jupyter.widget-view+json", "image/png"} <= data.keys()
            shown += 1
    assert shown == sum("explore(" in source for source in cells(path))
