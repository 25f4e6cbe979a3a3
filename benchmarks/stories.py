"""The stories of the course in a real browser: how soon a step and a change of an input are seen.

    python -m benchmarks.stories [--json] [--changes 20] [--lessons dictionary scale]

Step: from an arrow key to the first frame that shows the next state of the figure. Input: from a
change of a figure's control, which has the focus, to the first frame with its numbers: the frame
after they have come, or the next one if they were there. Also: whether the whole figure is in sight
when a lesson opens at 1280 × 800, and the longest line of its text.
"""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page

from benchmarks import servers
from benchmarks.chrome import launched, wait_for
from benchmarks.measure import Spread, as_json, machine, machine_line, table
from viz import course

AIMS = {"step, ms p95": 50, "input, ms p95": 33, "characters a line": 75}
PACKAGES = ("streamlit", "torch", "playwright")
LESSONS = Path(course.__file__).parent
PAUSE_MS = 450  # longer than a tween
WATCH = """
(() => {
  window.seen = { step: null, input: null };
  const painted = (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => then(performance.now());
    port2.postMessage(null);
  });
  addEventListener("keydown", (event) => {
    seen.step = null;
    painted((now) => (seen.step = now - event.timeStamp));
  });
  let [began, flying] = [0, 0];
  const arrived = () => setTimeout(() => flying || painted((now) => (seen.input = now - began)));
  addEventListener("input", (event) => {
    began = event.timeStamp;
    seen.input = null;
    arrived(); // once the event is handled; with its request under way, its response counts
  }, true);
  const fetched = window.fetch;
  window.fetch = async (...request) => {
    if (!String(request[0]).includes("/api/figure/")) return fetched(...request);
    flying += 1;
    try {
      return await fetched(...request);
    } finally {
      flying -= 1;
      if (seen.input === null) arrived();
    }
  };
})()
"""
LONGEST_LINE = """
(text) => {
  let longest = 0;
  for (const paragraph of text.querySelectorAll("p")) {
    const lines = new Map();
    const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (let i = 0; i < node.data.length; i++) {
        const range = document.createRange();
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        const box = range.getBoundingClientRect();
        if (!box.width) continue;
        const line = Math.round(box.bottom / 12);
        lines.set(line, (lines.get(line) ?? 0) + 1);
      }
    longest = Math.max(longest, ...lines.values());
  }
  return longest;
}
"""
CHANGE = """
(range, share) => {
  const before = range.value;
  range.value = String(Number(range.min) + share * (Number(range.max) - Number(range.min)));
  if (range.value === before) return false;
  range.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  return true;
}
"""


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns the exit status."""
    parser = argparse.ArgumentParser(description="The stories of the course in a real browser.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--changes", type=int, default=20, help="of a figure's control")
    parser.add_argument("--lessons", nargs="*", default=names(), choices=names())
    options = parser.parse_args(arguments)
    try:
        with launched() as browser:
            report = measured(browser, options.lessons, options.changes)
    except (RuntimeError, Error) as error:
        print(f"benchmarks.stories: {error}", file=sys.stderr)
        return 1
    print(as_json(report) if options.json else text(report))
    return 0


def names() -> list[str]:
    """The lessons that are stories."""
    return [each.name for each in course.STORIES]


def measured(browser: Browser, lessons: list[str], changes: int) -> dict[str, Any]:
    """The numbers of every lesson."""
    by_lesson = {}
    with ExitStack() as stack:
        port = servers.free_port()
        app = stack.enter_context(servers.running(*servers.app(port), port))
        for name in lessons:
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            context.add_init_script(WATCH)
            page = context.new_page()
            by_lesson[name] = lesson(page, f"{app.url}/{name}", name, changes)
            context.close()
    return {
        "benchmark": "stories",
        "machine": {**machine(PACKAGES), "browser": f"Chromium {browser.version}"},
        "aims": AIMS,
        "lessons": by_lesson,
    }


def lesson(page: Page, url: str, name: str, changes: int) -> dict[str, Any]:
    """The numbers of one lesson."""
    page.goto(url)
    page.wait_for_selector(".story[data-ready]")
    page.wait_for_timeout(2 * PAUSE_MS)
    box = page.locator(".story-scene").bounding_box()
    steps = sum(not each.deeper for each in course.lesson(name).steps)
    report: dict[str, Any] = {
        "in sight": box is not None and box["y"] + box["height"] <= 800,
        "characters a line": page.locator(".story-text").evaluate(LONGEST_LINE),
        "steps": steps,
    }
    stepped = []
    for key in [*["ArrowRight"] * (steps - 1), *["ArrowLeft"] * (steps - 1)] * 2:
        page.keyboard.press(key)
        stepped.append(wait_for(page, "seen.step", "a step"))
        page.wait_for_timeout(PAUSE_MS)
    report["step"] = vars(Spread.of(stepped))
    for _ in range(steps):
        if page.locator(".story-show").count():
            page.locator(".story-show").click()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(PAUSE_MS)
    changed = []
    control = page.locator(".story-range:visible").first
    if control.count():
        control.focus()
        page.wait_for_timeout(2 * PAUSE_MS)
    for number in range(changes + 2 if control.count() else 0):
        if not control.evaluate(CHANGE, (number * 0.618) % 1):
            continue
        took = wait_for(page, "seen.input", "the numbers of a change")
        if number >= 2:
            changed.append(took)
        page.wait_for_timeout(PAUSE_MS)
    report["input"] = vars(Spread.of(changed)) if changed else None
    return report


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    rows = []
    for name, lesson_report in report["lessons"].items():
        spreads = [
            f"{each['median']:.1f} / {each['p95']:.1f}" if each else "–"
            for each in (lesson_report["step"], lesson_report["input"])
        ]
        sight = "yes" if lesson_report["in sight"] else "no"
        rows.append(
            [
                name,
                str(lesson_report["steps"]),
                *spreads,
                sight,
                str(lesson_report["characters a line"]),
            ]
        )
    head = ["lesson", "steps", "step ms p50 / p95", "input ms p50 / p95", "in sight", "line"]
    return "\n".join([machine_line(report["machine"]), "", table(head, rows)])


if __name__ == "__main__":
    sys.exit(main())
