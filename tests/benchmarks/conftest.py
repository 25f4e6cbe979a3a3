"""The browser that the tests of tests/browser use."""

from tests.browser.conftest import browser_type_launch_args  # noqa: F401
