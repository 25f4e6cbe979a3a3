"""What tests of fetched models share."""

import os
from collections.abc import Callable

import pytest


@pytest.fixture
def use_index(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes pip use an index, and no setting of the user's."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return lambda url: monkeypatch.setenv("PIP_INDEX_URL", url)
