"""What the first screen of Explore is: its controls, and where the picture stands.

    python -m benchmarks.first_screen [--models minilm smollm2 dinov2 translate whisper]

The controls of which half is in sight (each choice of a group counts; tokens, cells, thumbnails,
heads worth seeing and the words that the model says do not), the top of the frame of the picture,
its share of the screen, and how much of its shorter side is painted, in windows of four sizes. The
models are those of `python -m models.fetch smollm2 dinov2 translate whisper`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ViewportSize

from benchmarks import chrome, servers
from benchmarks.measure import Aim, Table, command

LOOK = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
SIZES = ((1280, 800), (1440, 900), (1920, 1080), (390, 844))
MODELS = ("minilm", "smollm2", "dinov2", "translate", "whisper")
ROLES: Any = (
    *("button", "link", "textbox", "searchbox", "spinbutton", "combobox", "checkbox", "radio"),
    *("slider", "tab", "menuitem", "switch"),
)
DATA = (
    ".hs-answer-chip, .hs-prefix, .hs-word, .hs-sound-word, .hs-token, .hs-tokens, .hs-tiles,"
    " .hs-words, .hs-worth, [role=listbox], [role=grid]"
)
# a box that Streamlit hides behind its own drawing is as large as its label
IN_SIGHT = f"""(all) => all.filter((element) => {{
  if (element.closest("{DATA}")) return false;
  const label = element.matches("[type=checkbox], [type=radio]") && element.closest("label");
  const {{ left, right, top, bottom, width, height }} = (label || element).getBoundingClientRect();
  const across = Math.min(right, innerWidth) - Math.max(left, 0);
  const down = Math.min(bottom, innerHeight) - Math.max(top, 0);
  return across > 0 && down > 0 && across * down >= 0.5 * width * height;
}}).length"""
WAIT_MS, SETTLE_MS = 180_000, 4_000


@command
def main(models: tuple[str, ...] = MODELS) -> Iterator[object]:
    rows = []
    with chrome.launched() as browser, servers.served() as server:
        for model in models:
            for size in SIZES:
                controls, seen = look(browser, f"{server.url}/?model={model}", *size)
                shares = [f"{seen[name]:.0%}" for name in ("frame", "painted")]
                rows.append([f"{model}, {size[0]} × {size[1]}", controls, seen["top"], *shares])
                if size == SIZES[0]:
                    yield Aim(f"{model}: controls", controls, 24)
                    yield Aim(f"{model}: top of the frame", seen["top"], 260)
                    yield Aim(f"{model}: screen beside the frame", 1 - seen["frame"], 0.6)
                    yield Aim(f"{model}: shorter side not painted", 1 - seen["painted"], 0.4)
    yield Table(["screen", "controls", "top of the frame", "its share", "painted"], rows)


def look(browser: Browser, address: str, width: int, height: int) -> tuple[int, dict[str, Any]]:
    """How many controls are on the screen once the picture is painted, and where that stands."""
    page = browser.new_page(viewport=ViewportSize(width=width, height=height))
    try:
        page.set_default_timeout(WAIT_MS)
        page.goto(address)
        page.locator(".headscope[data-painted]").wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(SETTLE_MS)  # the first trace may come after the first picture
        page.get_by_role("button", name="Stop", exact=True).first.wait_for(state="detached")
        controls = sum(page.get_by_role(role).evaluate_all(IN_SIGHT) for role in ROLES)
        return controls, page.evaluate(LOOK)
    finally:
        page.close()


if __name__ == "__main__":
    sys.exit(main())
