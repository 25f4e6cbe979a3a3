"""What is prepared in the background after the first page."""

import sys

import pytest

from models.files.errors import CheckpointError
from viz.pages.explore import opening


def test_the_library_is_imported_once_and_a_damaged_model_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verified = []

    def verify(entry, path) -> None:
        verified.append(entry.name)
        raise CheckpointError("not the published file")

    monkeypatch.setattr(opening, "STILL", 0.0)
    monkeypatch.setattr(opening, "is_here", lambda entry: True)
    monkeypatch.setattr(opening, "folder", lambda entry: entry.name)
    monkeypatch.setattr(opening, "verify", verify)
    opening.prepare.cache_clear()
    first = opening.prepare()
    first.join()
    assert opening.prepare() is first
    assert opening.LIBRARY in sys.modules
    assert verified == [entry.name for entry in opening.FETCHED]
