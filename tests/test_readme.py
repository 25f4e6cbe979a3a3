"""The README and docs: their code runs and gives what its comments say; the files are there."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

import headscope as hs
from models.catalogue import entry, folder
from tests.shown_code import ROOMS, beside_the_facade

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
    )
}
BLOCKS = {
    name: found
    for name, text in PAGES.items()
    if (found := re.findall(r"```python\n(.*?)```", text, re.DOTALL))
}
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


def test_their_code_uses_the_facade_alone() -> None:
    inside = re.compile(
        rf"\b(?:from (?:{'|'.join(ROOMS)})[\w.]* import|import (?:{'|'.join(ROOMS)})\b)"
    )
    for name, text in PAGES.items():
        assert inside.findall(text) == [], name
        for block in BLOCKS.get(name, ()):
            assert beside_the_facade(block) == [], name


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
    path = folder(entry("minilm"))
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


def test_every_name_of_the_facade_is_there() -> None:
    mentioned = set(re.findall(r"\bhs\.([A-Za-z_]+)", "".join(PAGES.values())))
    assert len(mentioned) > 12
    assert mentioned <= set(dir(hs))
    assert all(getattr(hs, name) is not None for name in dir(hs))


def test_links_lead_to_files() -> None:
    for name, text in PAGES.items():
        place = ROOT if name in ("README", "CONTRIBUTING") else ROOT / "docs"
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (place / target).exists(), f"{name}: {target}"


def test_the_files_that_it_names_are_there() -> None:
    named = set(re.findall(r"`((?:[\w.]+/)+[\w.]*)`", PAGES["design"] + PAGES["CONTRIBUTING"]))
    assert len(named) > 25
    beside = ("", "models/loading", "viz/web", "viz/pages")
    places = [ROOT / place for place in beside]  # of a name within its row of the table
    real = [name for name in named if "NAME" not in name]
    missing = [name for name in real if not any((place / name).exists() for place in places)]
    assert missing == []


def test_the_number_of_model_types_is_that_of_the_coverage() -> None:
    table = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    [(traced, tried)] = re.findall(r"^(\d+) of (\d+) types are traced", table, re.MULTILINE)
    assert traced == tried
    assert re.findall(r"\[(\d+) model types\]\(docs/coverage.md\)", README) == [traced]
