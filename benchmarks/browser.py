"""Latency of the app in a browser, compared with a minimal Streamlit page.

    python -m benchmarks.browser [--json] [--changes 25] [--starts 5] [--tokens 32 512]

Start: from the start of the server's process to the first text and the first picture, in a fresh
browser context, the browser already running; beside a one-line page. The very first start has to
import PyTorch for its picture, later ones begin with the picture that was kept.
Control: from a key press to the painted picture; beside a page with one slider and one canvas that
gets the same number of bytes. Every visit opens a fresh page and drops three warm-ups.
Bytes: what one view, its background loading and one change send.

Server and browser share the machine. Cases take turns, in an order that rotates.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Error

from benchmarks import reference_pages, servers
from benchmarks.chrome import Traffic, fresh_page, launched, wait_for
from benchmarks.measure import (
    Spread,
    as_json,
    machine,
    machine_line,
    ratios,
    rotations,
    table,
)
from benchmarks.visits import CASES, CHANGES_A_VISIT, PAINTED, Case, changes, opened, press

AIMS = {
    "text, seconds over the one-line page": 0.3,
    "first picture, seconds": 4.0,
    "change, times the bare canvas": 1.3,
}
PACKAGES = ("streamlit", "torch", "playwright")
COUNTED_CHANGES = 3
KEPT = servers.ROOT / ".cache"  # where the app keeps its opening picture
LOADED = "!!document.querySelector('.st-key-text_verify')"
BARE, *OURS = CASES


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns the exit status."""
    options = parse(arguments)
    try:
        with tempfile.TemporaryDirectory() as name, launched() as browser:
            reference_pages.write(Path(name))
            report = measured(browser, Path(name), options)
    except (RuntimeError, Error) as error:
        print(f"benchmarks.browser: {error}", file=sys.stderr)
        return 1
    print(as_json(report) if options.json else text(report))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options; a part that is not asked for has nothing to measure."""
    parser = argparse.ArgumentParser(description="Start, control and bytes in a real browser.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--changes", type=int, default=25, help="per control and length; 0: none")
    parser.add_argument("--starts", type=int, default=5, help="of each server; 0: none")
    parser.add_argument("--tokens", type=int, nargs="+", default=[32, 512])
    parser.add_argument("--no-bytes", action="store_true", help="leave the traffic out")
    options = parser.parse_args(arguments)
    if not all(3 <= tokens <= 512 for tokens in options.tokens):
        parser.error(f"--tokens: expected 3 to 512, received {options.tokens}")
    return options


def measured(browser: Browser, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Everything that was asked for."""
    report: dict[str, Any] = {
        "benchmark": "browser",
        "machine": {**machine(PACKAGES), "browser": f"Chromium {browser.version}"},
        "aims": AIMS,
        "start": starts(browser, folder, options.starts) if options.starts else {},
        "control": {},
        "bytes": {},
    }
    with ExitStack() as stack:
        urls = {}
        for name, command in (("canvas", _canvas(folder)), ("app", servers.app)):
            port = servers.free_port()
            urls[name] = stack.enter_context(servers.running(*command(port), port)).url
        for tokens in options.tokens:
            if options.changes:
                visits = -(-options.changes // CHANGES_A_VISIT)
                report["control"][tokens] = control(browser, urls, tokens, visits)
            if not options.no_bytes:
                report["bytes"][tokens] = {
                    case.name: traffic(browser, case, urls[case.server], tokens) for case in CASES
                }
    return report


def _canvas(folder: Path) -> Callable[[int], tuple[list[str], Path]]:
    return partial(servers.page, folder, "canvas.py")


def starts(browser: Browser, folder: Path, count: int) -> dict[str, Any]:
    """Seconds from the start of a process to what it first shows.

    Ours twice: with nothing kept of an earlier start, and right after that.
    """
    hello = partial(servers.page, folder, "hello.py")
    found: dict[str, list[dict[str, Any]]] = {"one-line page": [], "first": [], "ours": []}
    for order in rotations(["one-line page", "ours"], count):
        for name in order:
            if name == "ours":
                shutil.rmtree(KEPT, ignore_errors=True)
                found["first"].append(start(browser, servers.app, pictures=True))
                found["ours"].append(start(browser, servers.app, pictures=True))
            else:
                found[name].append(start(browser, hello, pictures=False))
    both = {name: [one["text"] for one in ones] for name, ones in found.items()}
    behind = [ours - least for ours, least in zip(both["ours"], both["one-line page"], strict=True)]
    return {
        "one-line page: text": Spread.of(both["one-line page"]),
        "ours: text": Spread.of(both["ours"]),
        "ours, over the one-line page": Spread.of(behind),
        "ours: picture": Spread.of([one["picture"] for one in found["ours"]]),
        "ours: picture, very first start": Spread.of([one["picture"] for one in found["first"]]),
        "first words": {name: ones[0]["words"] for name, ones in found.items()},
        "listens": {
            name: Spread.of([one["listens"] for one in ones]) for name, ones in found.items()
        },
    }


def start(
    browser: Browser, command: Callable[[int], tuple[list[str], Path]], *, pictures: bool
) -> dict[str, Any]:
    """One start of a server, looked at by a browser that has never seen it."""
    port = servers.free_port()
    with fresh_page(browser) as page, servers.running(*command(port), port) as server:
        page.goto(server.url, wait_until="commit")
        first = wait_for(page, "probe.text", "the first text")
        seconds = {"text": first["at"] - server.began, "listens": server.listened}
        if pictures:
            painted = wait_for(page, PAINTED, "the first picture")
            seconds["picture"] = painted["at"] - server.began
            wait_for(page, LOADED, "the loaded model")
    return {**seconds, "words": first["words"]}


def control(browser: Browser, urls: dict[str, str], tokens: int, visits: int) -> dict[str, Any]:
    """Milliseconds from key to picture for each control, and each beside the bare canvas."""
    by_name = {case.name: case for case in CASES}
    found: dict[str, list[list[float | None]]] = {name: [] for name in by_name}
    for order in rotations(list(by_name), visits):
        for name in order:
            case = by_name[name]
            found[name].append(changes(browser, case, urls[case.server], tokens))
    return compared(found)


def compared(found: dict[str, list[list[float | None]]]) -> dict[str, Any]:
    """Spreads of the milliseconds, visit by visit beside the first case; None is a lost change.

    Raises:
        RuntimeError: if a visit saw no change at all.
    """
    seen = {
        name: [[ms for ms in visit if ms is not None] for visit in visits]
        for name, visits in found.items()
    }
    silent = [name for name, visits in seen.items() if not all(visits)]
    if silent:
        raise RuntimeError(f"no picture followed any key press: {', '.join(silent)}")
    medians = {name: [median(visit) for visit in visits] for name, visits in seen.items()}
    return {
        name: {
            "ms": Spread.of([ms for visit in visits for ms in visit]),
            "times the bare canvas": Spread.of(ratios(medians[name], medians[BARE.name])),
            "lost": sum(ms is None for visit in found[name] for ms in visit),
        }
        for name, visits in seen.items()
    }


def traffic(browser: Browser, case: Case, base: str, tokens: int) -> dict[str, Any]:
    """Bytes by kind: up to the first picture, after it until all is quiet, and of one change."""
    with fresh_page(browser) as page, Traffic.of(page) as heard:
        page.goto(case.url(base, tokens), wait_until="commit")
        painted = wait_for(page, PAINTED, f"the picture of {case.name}")["at"]
        heard.wait_until_quiet(page)
    with opened(browser, case, base, tokens) as page, Traffic.of(page) as later:
        for _ in range(COUNTED_CHANGES):
            press(page, case.key)
            later.wait_until_quiet(page)
    return {
        "first view": heard.sums(0, painted),
        "background": heard.sums(painted),
        "a change": {kind: size // COUNTED_CHANGES for kind, size in later.sums().items()},
    }


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    parts = [machine_line(report["machine"])]
    if report["start"]:
        parts.append(_start_table(report["start"]))
    if report["control"]:
        parts.append(_control_table(report["control"]))
    parts += [_bytes_table(tokens, found) for tokens, found in report["bytes"].items()]
    return "\n\n".join(parts)


def _start_table(start: dict[str, Any]) -> str:
    spreads = {name: value for name, value in start.items() if isinstance(value, Spread)}
    head = ("seconds from process start", "median (p10–p90)")
    behind, picture = start["ours, over the one-line page"].median, start["ours: picture"].median
    over, latest, _ = AIMS.values()
    return (
        table(head, [[name, spread.text()] for name, spread in spreads.items()])
        + f"\naim: text at most {over} s after the one-line page: {_verdict(behind <= over)};"
        + f" picture within {latest:.0f} s: {_verdict(picture <= latest)}"
    )


def _control_table(control: dict[int, dict[str, Any]]) -> str:
    head = ["key to picture, ms p50/p95 (× bare)", *(f"{tokens} tokens" for tokens in control)]
    aim = AIMS["change, times the bare canvas"]
    rows = [
        [case.name, *(_change(found[case.name]) for found in control.values())] for case in CASES
    ]
    missed = [
        f"{case.name} at {tokens}"
        for tokens, found in control.items()
        for case in OURS
        if found[case.name]["times the bare canvas"].median > aim
    ]
    verdict = "met" if not missed else "MISSED by " + ", ".join(missed)
    return table(head, rows) + f"\naim: at most {aim} × the bare canvas: {verdict}"


def _change(found: dict[str, Any]) -> str:
    ms, times = found["ms"], found["times the bare canvas"]
    lost = f", {found['lost']} LOST" if found["lost"] else ""
    return f"{ms.median:.0f}/{ms.p95:.0f} ({times.median:.2f}){lost}"


def _bytes_table(tokens: int, found: dict[str, Any]) -> str:
    kinds = ("Streamlit's files", "our files", "other HTTP", "websocket in", "websocket out")
    rows = [
        [f"{name}: {part}", *(_kib(sums.get(kind, 0)) for kind in kinds)]
        for name, parts in found.items()
        for part, sums in parts.items()
    ]
    return table([f"KiB at {tokens} tokens", *kinds], rows)


def _kib(size: int) -> str:
    return f"{size / 1024:.1f}" if size else "–"


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
