"""How soon a lesson is there, and a step and a change of an input are seen, in a real browser.

    python -m benchmarks.lessons [--changes 20] [--lessons dictionary scale]

Shown: from the page's first text to its whole figure. Step: from an arrow key to the first frame of
the next state. Input: from a change of the figure's slider to the first frame with its numbers, in
the first step that has one.
"""

import sys
from collections.abc import Iterator
from functools import partial

from numpy import nan, nanmax
from playwright.sync_api import Browser

from benchmarks import chrome, servers
from benchmarks.chrome import PAINTED, fresh_page, to_picture, wait_for
from benchmarks.measure import Aim, Spread, Table, command
from viz import course

NAMES = tuple(each.name for each in course.STORIES)
SLIDE = """
(range, share) => {
  const before = range.value;
  range.value = String(Number(range.min) + share * (Number(range.max) - Number(range.min)));
  if (range.value === before) range.value = before === range.max ? range.min : range.max;
  range.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
}
"""


@command
def main(changes: int = 20, lessons: tuple[str, ...] = NAMES) -> Iterator[object]:
    rows = []
    with chrome.launched() as browser, servers.served() as server:
        for name in lessons:
            print(name, file=sys.stderr)
            rows.append(lesson(browser, f"{server.url}/{name}", name, changes))
    cells = [
        [name, painted_at, step.latency, slide.latency] for name, painted_at, step, slide in rows
    ]
    yield Table(["lesson", "shown, s", "step, ms p50/p95", "input, ms p50/p95"], cells)
    yield Aim("shown after the text, s", max(painted_at for _, painted_at, *_ in rows), 1)
    yield Aim("step, ms p95", max(step.p95 for *_, step, _ in rows), 50)
    yield Aim("input, ms p95", nanmax([slide.p95 for *_, slide in rows]), 33)


def lesson(
    browser: Browser, url: str, name: str, changes: int
) -> tuple[str, float, Spread, Spread]:
    """Its name, seconds from the text to the figure, milliseconds of steps and of the slider."""
    with fresh_page(browser, drawn=True) as page:
        page.goto(url)
        painted_at = wait_for(page, PAINTED, "the figure")["at"]
        text = wait_for(page, "probe.text", "the text")["at"]
        steps, slides = [], []
        for step in range(sum(not each.deeper for each in course.lesson(name).steps)):
            if step:
                steps.append(to_picture(page, lambda: page.keyboard.press("ArrowRight")))
            if page.locator(".story-show").count():
                page.locator(".story-show").click()
            slider = page.locator(".story-range:visible").first
            if not slides and slider.count():
                for share in (number * 0.618 % 1 for number in range(changes + 2)):
                    change = partial(slider.evaluate, SLIDE, share)
                    slides.append(to_picture(page, change))
        return name, max(0.0, painted_at - text), Spread(steps), Spread(slides[2:] or [nan])


if __name__ == "__main__":
    sys.exit(main())
