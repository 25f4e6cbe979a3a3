"""What is prepared in the background after the first page."""

import sys

import pytest

from models.files.errors import CheckpointError
from viz.api import behind


def test_the_library_is_imported_once_and_a_damaged_model_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verified = []

    def verify(entry, path) -> None:
        verified.append(entry.name)
        raise CheckpointError("not the published file")

    monkeypatch.setattr(behind, "STILL", 0.0)
    monkeypatch.setattr(behind, "is_here", lambda entry: True)
    monkeypatch.setattr(behind, "folder", lambda entry: entry.name)
    monkeypatch.setattr(behind, "verify", verify)
    behind.prepare.cache_clear()
    first = behind.prepare()
    first.join()
    assert behind.prepare() is first
    assert behind.LIBRARY in sys.modules
    assert verified == [entry.name for entry in behind.FETCHED]
