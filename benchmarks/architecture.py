"""Latency of the Architecture page in a browser.

    python -m benchmarks.architecture [--json] [--changes 25]

Time from a key press on a slider to the frame with the changed diagram, for a small encoder and a
small encoder–decoder. Arrow keys alternate, so that every picture differs from the previous one.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page

from benchmarks import servers
from benchmarks.chrome import Traffic, fresh_page, launched, wait_for
from benchmarks.measure import Spread, as_json, machine, machine_line, table

PROBE = Path(__file__).with_name("image_probe.js")
AIM = 150.0  # milliseconds, p50
WARM = 3  # changes that are not counted
CASES = {
    "encoder, tokens": ("small", "Tokens"),
    "encoder, depth": ("small", "Depth"),
    "encoder–decoder, depth": ("small-seq2seq", "Depth"),
}


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns the exit status."""
    options = parse(arguments)
    try:
        with launched() as browser:
            report = measured(browser, options.changes)
    except (RuntimeError, Error) as error:
        print(f"benchmarks.architecture: {error}", file=sys.stderr)
        return 1
    print(as_json(report) if options.json else text(report))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The Architecture page in a real browser.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--changes", type=int, default=25, help="of each control")
    options = parser.parse_args(arguments)
    if options.changes < 1:
        parser.error(f"--changes: expected 1 or more, received {options.changes}")
    return options


def measured(browser: Browser, changes: int) -> dict[str, Any]:
    """Milliseconds from a key to the frame, and bytes received, of every case."""
    cases = {}
    port = servers.free_port()
    with servers.running(*servers.app(port), port) as server:
        for name, (preset, control) in CASES.items():
            with fresh_page(browser) as page:
                times, sizes = changed(page, server.url, preset, control, changes)
            cases[name] = {"ms": Spread.of(times), "bytes": Spread.of(sizes)}
    return {
        "benchmark": "architecture",
        "machine": {
            **machine(("streamlit", "torch", "playwright")),
            "browser": f"Chromium {browser.version}",
        },
        "aim": AIM,
        "cases": cases,
    }


def changed(
    page: Page, url: str, preset: str, control: str, changes: int
) -> tuple[list[float], list[float]]:
    """One visit: milliseconds and bytes of every change."""
    page.add_init_script(path=PROBE)
    page.goto(f"{url}/architecture?preset={preset}", wait_until="commit")
    wait_for(page, "imageProbe.ready()", "the first diagram")
    times, sizes = [], []
    with Traffic.of(page) as heard:
        heard.wait_until_quiet(page)
        page.get_by_role("slider", name=control).focus()
        for number in range(WARM + changes):
            before = heard.sums().get("websocket in", 0)
            page.evaluate("imageProbe.watch('trace')")
            page.keyboard.press("ArrowLeft" if number % 2 else "ArrowRight")
            milliseconds = wait_for(page, "imageProbe.seen.trace[1]", "the changed diagram")
            heard.wait_until_quiet(page, 0.35)
            times.append(float(milliseconds))
            sizes.append(float(heard.sums().get("websocket in", 0) - before))
    return times[WARM:], sizes[WARM:]


def text(report: dict[str, Any]) -> str:
    """The report as a table, with what was aimed for."""
    rows = [
        [
            name,
            case["ms"].text(0),
            f"{case['ms'].p95:.0f}",
            f"{case['bytes'].median / 1000:.0f}",
            "met" if case["ms"].median <= report["aim"] else "MISSED",
        ]
        for name, case in report["cases"].items()
    ]
    head = ("control → diagram", "ms, median (p10–p90)", "p95", "kB", f"≤ {report['aim']:.0f} ms")
    return f"{machine_line(report['machine'])}\n\n{table(head, rows)}"


if __name__ == "__main__":
    sys.exit(main())
