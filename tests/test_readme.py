"""The README and docs: what they name is there, and their code takes the facade alone."""

import re
from pathlib import Path

import headscope as hs
from tests.shown_code import ROOMS, beside_the_facade
from tests.test_blocks import NOTEBOOKS, cells

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


def test_their_code_uses_the_facade_alone() -> None:
    inside = re.compile(
        rf"\b(?:from (?:{'|'.join(ROOMS)})[\w.]* import|import (?:{'|'.join(ROOMS)})\b)"
    )
    for name, text in PAGES.items():
        assert inside.findall(text) == [], name
        for block in BLOCKS.get(name, ()):
            assert beside_the_facade(block) == [], name
    for path in (*NOTEBOOKS, *(ROOT / "notebooks/exercises").glob("*.ipynb")):
        assert [name for cell in cells(path) for name in beside_the_facade(cell)] == [], path.stem


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
