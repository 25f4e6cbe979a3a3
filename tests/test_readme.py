"""The README: its code runs and gives what its comments say, and the files it names are there."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from models.catalogue import entry, folder

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
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
    """What the first block leaves, and what the later ones name."""
    found: dict[str, Any] = {"torch": torch, "text": TEXT}
    values(BLOCKS[0], found)
    for line in (
        "from headscope import load, trace",
        "from analysis.decompx import decompx",
        "from analysis.faithfulness import faithfulness",
        "from analysis.norms import value_norms",
        "from analysis.relevance import explain",
        "from analysis.rollout import rollout",
        "from models.verify import verify",
    ):
        exec(line, found)
    return found


def test_every_block_is_tested() -> None:
    assert len(BLOCKS) == 3


def test_a_trace() -> None:
    labels, weights, shape, path = values(BLOCKS[0], {})
    assert labels[:4] == ["[CLS]", "The", "animal", "didn"]
    assert weights.sum(-1) == pytest.approx(torch.ones(16), abs=1e-5)
    assert shape == (12, 16, 16)
    assert path == "fused"


def test_all_layers_together(names: dict[str, Any]) -> None:
    exec("t = trace(model, text, hidden=True)", names)
    joint, norms, parts, curves = values(BLOCKS[1], names)
    assert joint.shape == (16, 16)
    assert norms.shape == (12, 16, 16)
    assert parts.shape == (16,)
    assert names["found"].tokens.shape == (16,)
    assert curves is not None


def test_any_transformers_model(names: dict[str, Any]) -> None:
    path = folder(entry("minilm"))
    code = re.sub('"path/to/folder"|"owner/name"', repr(str(path)), BLOCKS[2])
    left, difference = values(code.replace('"cuda"', '"cpu"'), dict(names))
    assert left.shape == (4, 384)
    assert difference < 0.05  # of numbers up to 3 in bfloat16, which has three digits


def test_the_files_that_it_names_are_there() -> None:
    named = set(re.findall(r"`((?:[\w.]+/)+[\w.]*)`", README))
    assert len(named) > 25
    beside = ("", "models/loading", "viz/components/headscope_views/assets", "viz/pages")
    places = [ROOT / place for place in beside]  # of a name within its row of the table
    missing = [name for name in named if not any((place / name).exists() for place in places)]
    assert missing == []


def test_the_number_of_model_types_is_that_of_the_coverage() -> None:
    table = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    [exact] = re.findall(r"/ (\d+) exact", table)
    assert re.findall(r"\[(\d+) model types\]\(docs/coverage.md\)", README) == [exact]
