"""What is prepared in the background after the first page."""

import sys

import pytest

from viz.pages.explore import opening


def test_the_library_is_imported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "STILL", 0.0)
    opening.prepare.cache_clear()
    first = opening.prepare()
    first.join()
    assert opening.prepare() is first
    assert opening.LIBRARY in sys.modules
