"""What the first screen of Explore is: its controls, and where the picture stands.

`python -m benchmarks.browser --changes 0 --starts 0 --no-bytes` prints it for models and sizes of
the window: the controls of which half is in sight (elements with the role button, link, textbox,
combobox, checkbox, radio, slider, tab, menuitem or switch; each choice of a group counts; tokens,
cells, thumbnails, heads worth seeing and the words that the model says do not), the top of what is
painted of the picture, its share of the screen, and that of its frame. The models are those of
`python -m models.fetch smollm2 dinov2 translate whisper`.
"""

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ViewportSize

from benchmarks.measure import table

LOOK = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
SIZES = ((1280, 800), (1440, 900), (1920, 1080), (390, 844))
MODELS = ("minilm", "smollm2", "dinov2", "translate", "whisper")
MOST_CONTROLS, LOWEST_TOP, LEAST_SHARE = 24, 260, 0.4  # what 1280 × 800 should have
WAIT_MS, SETTLE_MS = 180_000, 4_000


def screens(browser: Browser, url: str) -> list[dict[str, Any]]:
    """What each screen shows, by model and size."""
    return [
        {"model": model, "size": size, **look(browser, url, model, size)}
        for model in MODELS
        for size in SIZES
    ]


def look(browser: Browser, url: str, model: str, size: tuple[int, int]) -> dict[str, Any]:
    """What is on the screen once the picture is painted."""
    page = browser.new_page(viewport=ViewportSize(width=size[0], height=size[1]))
    try:
        page.set_default_timeout(WAIT_MS)
        page.goto(f"{url}/?model={model}")
        page.locator(".headscope[data-painted]").wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(SETTLE_MS)  # the first trace may come after the first picture
        return page.evaluate(LOOK)
    finally:
        page.close()


def text(seen: list[dict[str, Any]]) -> str:
    """A table, and the aims."""
    rows = [
        [
            _name(screen),
            str(len(screen["controls"])),
            "–" if screen["top"] is None else str(screen["top"]),
            f"{screen['share']:.0%}",
            f"{screen['frame']:.0%}",
        ]
        for screen in seen
    ]
    head = ["screen", "controls in sight", "top of the picture", "painted", "its frame"]
    aims = (
        f"aims at 1280 × 800: at most {MOST_CONTROLS} controls, top at most {LOWEST_TOP},"
        f" frame at least {LEAST_SHARE:.0%}"
    )
    return f"{table(head, rows)}\n{aims}"


def _name(screen: dict[str, Any]) -> str:
    return f"{screen['model']}, {screen['size'][0]} × {screen['size'][1]}"
