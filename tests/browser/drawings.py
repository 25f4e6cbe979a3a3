"""A drawing saved as a file."""

from pathlib import Path

from playwright.sync_api import Page


def saved(page: Page, button: str, folder: Path) -> Path:
    """The file that a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path
