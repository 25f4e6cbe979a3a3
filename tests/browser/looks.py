"""In which looks a page is tried: how wide the window, and light or dark.

Two of the four together have both widths and both modes; `LOOKS=all make test` tries all four. A
page is opened in the first and then changes to the others, as a window does that is resized.
"""

import os
from collections.abc import Iterator

from playwright.sync_api import Page

EVERY = [(width, mode) for width in (390, 1280) for mode in ("dark", "light")]
TRIED = EVERY if os.environ.get("LOOKS") == "all" else [(390, "dark"), (1280, "light")]
FITS = "width => innerWidth === width && document.documentElement.scrollWidth <= width"


def looks(page: Page) -> Iterator[str]:
    """The mode of each look, when the page has it and fits its window."""
    for width, mode in TRIED:
        fits(page, width, mode)
        yield mode


def fits(page: Page, width: int, mode: str) -> None:
    """Waits until a page fits its window in a look."""
    look(page, width, mode)
    page.wait_for_function(FITS, arg=width)


def look(page: Page, width: int, mode: str) -> None:
    page.emulate_media(color_scheme=mode)  # pyright: ignore[reportArgumentType]
    page.set_viewport_size({"width": width, "height": 900})


def first_look(page: Page) -> None:
    """For a page that is not opened yet."""
    look(page, *TRIED[0])
