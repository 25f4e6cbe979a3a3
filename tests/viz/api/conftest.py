"""Fixtures of several modules."""

from pathlib import Path

import pytest

from tests.viz.api.pictured import entry_of, networks_in
from viz.api.entries import TraceEntry
from viz.api.samples import PHOTOS


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TraceEntry]:
    """A photo as small networks of several kinds have read it, by their names."""
    places: dict[str, Path] = networks_in(tmp_path_factory.mktemp("over"))
    return {name: entry_of(place, PHOTOS["flower"]) for name, place in places.items()}
