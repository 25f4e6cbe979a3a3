"""What the tests of pages share."""

from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="session", autouse=True)
def _components_are_looked_for_once():
    """Streamlit reads what is installed for every app that is run: half of a page test's work."""
    with pytest.MonkeyPatch.context() as patch:
        scan = manifest_scanner.scan_component_manifests
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan))
        yield


@pytest.fixture(autouse=True)
def _shapes_are_checked_elsewhere(unchecked_shapes: None) -> None:
    """By the tests of models and analysis: pages and files call the same, in half the time."""
