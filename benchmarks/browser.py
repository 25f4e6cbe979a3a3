"""Latency and traffic of the app in a real browser, compared with minimal pages.

    python -m benchmarks.browser [--json] [--changes 25] [--starts 5] [--tokens 16 512]

`--changes 0 --starts 0 --no-bytes` prints the first screen alone, and
`--tokens 128 512 --starts 0 --no-bytes --no-screen` is the shortest run with the aims of the lines.

Start: from the start of the server process to the first text and the first picture, in a fresh
context of a running browser; compared with a one-line Streamlit page. The first start has an empty
app cache.
Change: from key press to painted picture. "Fetched": without prefetching; compared with a canvas on
a page without Streamlit that fetches as many bytes from the same kind of server. "Already there":
with everything prefetched; compared with the same canvas with the bytes in memory. The handler time
is the synchronous part of the event handler. Every visit opens a fresh page and discards two
warm-ups.
Bytes: of the first view, of prefetching, and of one change; of the first view of 12 layers of 12
heads at 512 tokens.
Screen: the controls in sight and the place of the picture (first_screen.py).

A key that runs the model runs it on what it has never seen: every visit has a text of its own, and
a word is typed of which every beginning is one token.

Server and browser share the machine. Cases are interleaved in rotating order.
"""

import argparse
import os
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

from benchmarks import first_screen, reference_pages, servers
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
from benchmarks.visits import (
    CASES,
    CHANGES_A_VISIT,
    LARGEST,
    NETWORK,
    PAINTED,
    TYPING,
    Case,
    applies,
    changes,
    opened,
    press,
)

AIMS: dict[str, float] = {
    "text, seconds over the one-line page": 0.3,
    "first picture, seconds": 4.0,
    "first view of 12 x 12 at 512 tokens, KiB": 1024,
    "handler of what is already there, ms p95": 4,
}
LINES = {128: 33, 512: 50}  # ms p95 by tokens, from key to painted lines
RUNS = {  # ms p50 and p95, from key to picture, of changes that run the model
    (NETWORK, 512): (120, 180),
    (TYPING, 16): (200, None),
}
PACKAGES = ("streamlit", "torch", "playwright")
COUNTED_CHANGES = 3
CACHE = servers.ROOT / ".cache"  # persistent cache of the app
DATA = ("API", "websocket in", "websocket out")
Change = dict[str, Any] | None


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
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 512])
    parser.add_argument("--cold", action="store_true", help="drop the disk cache before a start")
    parser.add_argument("--no-bytes", action="store_true", help="leave the traffic out")
    parser.add_argument("--no-screen", action="store_true", help="leave the first screen out")
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
        "start": starts(browser, folder, options.starts, options.cold) if options.starts else {},
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
                    case.name: traffic(browser, case, urls, tokens)
                    for case in CASES
                    if applies(case, tokens)
                }
        if not options.no_bytes:
            report["largest"] = first_view(browser, urls["app"] + LARGEST)[0]
        if not options.no_screen:
            report["screens"] = first_screen.screens(browser, urls["app"])
    return report


def _canvas(folder: Path) -> Callable[[int], tuple[list[str], Path]]:
    return partial(reference_pages.command, folder)


def starts(browser: Browser, folder: Path, count: int, cold: bool) -> dict[str, Any]:
    """Seconds from the start of a process to what it first shows.

    Ours twice: with nothing kept of an earlier start, and right after that.
    """
    hello = partial(servers.page, folder, "hello.py")
    pages: dict[str, list[dict[str, Any]]] = {"one-line page": [], "first": [], "ours": []}
    for order in rotations(["one-line page", "ours"], count):
        for name in order:
            if name == "ours":
                shutil.rmtree(CACHE, ignore_errors=True)
                pages["first"].append(start(browser, servers.app, pictures=True, cold=cold))
                pages["ours"].append(start(browser, servers.app, pictures=True, cold=cold))
            else:
                pages[name].append(start(browser, hello, pictures=False, cold=cold))
    both = {name: [one["text"] for one in ones] for name, ones in pages.items()}
    behind = [ours - least for ours, least in zip(both["ours"], both["one-line page"], strict=True)]
    return {
        "one-line page: text": Spread.of(both["one-line page"]),
        "ours: text": Spread.of(both["ours"]),
        "ours, over the one-line page": Spread.of(behind),
        "ours: picture": Spread.of([one["picture"] for one in pages["ours"]]),
        "ours: picture, very first start": Spread.of([one["picture"] for one in pages["first"]]),
        "first words": {name: ones[0]["words"] for name, ones in pages.items()},
        "listens": {
            name: Spread.of([one["listens"] for one in ones]) for name, ones in pages.items()
        },
    }


def start(
    browser: Browser,
    command: Callable[[int], tuple[list[str], Path]],
    *,
    pictures: bool,
    cold: bool = False,
) -> dict[str, Any]:
    """One start of a server, looked at by a browser that has never seen it."""
    if cold:
        _drop_disk_cache()
    port = servers.free_port()
    with fresh_page(browser) as page, servers.running(*command(port), port) as server:
        page.goto(server.url, wait_until="commit")
        first = wait_for(page, "probe.text", "the first text")
        seconds = {"text": first["at"] - server.began, "listens": server.listened}
        if pictures:
            painted = wait_for(page, PAINTED, "the first picture")
            seconds["picture"] = painted["at"] - server.began
    return {**seconds, "words": first["words"]}


def _drop_disk_cache() -> None:
    """Raises RuntimeError where this machine does not allow it."""
    try:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3", encoding="utf-8")
    except OSError as error:
        raise RuntimeError(f"the disk cache cannot be dropped: {error}") from error


def control(browser: Browser, urls: dict[str, str], tokens: int, visits: int) -> dict[str, Any]:
    """Every case at one length, visit by visit in turns."""
    by_name = {case.name: case for case in CASES if applies(case, tokens)}
    by_case: dict[str, list[list[Change]]] = {name: [] for name in by_name}
    for visit, order in enumerate(rotations(list(by_name), visits)):
        for name in order:
            print(f"{tokens} tokens: {name}", file=sys.stderr)
            by_case[name].append(changes(browser, by_name[name], urls, tokens, visit))
    return compared(by_case)


def compared(by_case: dict[str, list[list[Change]]]) -> dict[str, Any]:
    """Spreads of the milliseconds, each visit beside one of its bare page; None is a lost change.

    Raises:
        RuntimeError: if a visit saw no change at all, or fetched when all should be there.
    """
    arrived = {
        name: [[change for change in visit if change is not None] for visit in visits]
        for name, visits in by_case.items()
    }
    silent = [name for name, visits in arrived.items() if not all(visits)]
    if silent:
        raise RuntimeError(f"no picture followed any key press: {', '.join(silent)}")
    medians = {
        name: [median(change["ms"] for change in visit) for visit in visits]
        for name, visits in arrived.items()
    }
    bare = {case.name: case.bare or case.name for case in CASES}
    return {
        name: {
            "ms": Spread.of([change["ms"] for visit in visits for change in visit]),
            "handler ms": Spread.of(
                [change["handler"] or 0.0 for visit in visits for change in visit]
            ),
            "times the bare canvas": Spread.of(ratios(medians[name], medians[bare[name]])),
            "fetched": sum(change["fetched"] for visit in visits for change in visit),
            "lost": sum(change is None for visit in by_case[name] for change in visit),
        }
        for name, visits in arrived.items()
    }


def traffic(browser: Browser, case: Case, urls: dict[str, str], tokens: int) -> dict[str, Any]:
    """Bytes by kind: up to the first picture, after it until all is quiet, and of one change."""
    first, ahead = first_view(browser, case.url(urls, tokens))
    with opened(browser, case, urls, tokens) as page, Traffic.of(page) as later:
        for number in range(COUNTED_CHANGES):
            press(page, case.keys[number % len(case.keys)])
            later.wait_until_quiet(page)
    return {
        "first view": first,
        "fetched ahead": ahead,
        "a change": {kind: size // COUNTED_CHANGES for kind, size in later.sums().items()},
    }


def first_view(browser: Browser, address: str) -> tuple[dict[str, int], dict[str, int]]:
    """Bytes by kind up to the first picture, and after it until all is quiet."""
    with fresh_page(browser) as page, Traffic.of(page) as heard:
        page.goto(address, wait_until="commit")
        painted = wait_for(page, PAINTED, f"the picture of {address[:80]}")["at"]
        heard.wait_until_quiet(page)
    return heard.sums(0, painted), heard.sums(painted)


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    parts = [machine_line(report["machine"])]
    if report["start"]:
        parts.append(_start_table(report["start"]))
    if report["control"]:
        parts.append(_control_table(report["control"]))
    parts += [_bytes_table(tokens, sizes) for tokens, sizes in report["bytes"].items()]
    if "largest" in report:
        parts.append(_largest(report["largest"]))
    if "screens" in report:
        parts.append(first_screen.text(report["screens"]))
    return "\n\n".join(parts)


def _start_table(start: dict[str, Any]) -> str:
    spreads = {name: value for name, value in start.items() if isinstance(value, Spread)}
    head = ("seconds from process start", "median (p10–p90)")
    behind, picture = start["ours, over the one-line page"].median, start["ours: picture"].median
    over, latest, *_ = AIMS.values()
    return (
        table(head, [[name, spread.text()] for name, spread in spreads.items()])
        + f"\naim: text at most {over} s after the one-line page: {_verdict(behind <= over)};"
        + f" picture within {latest:.0f} s: {_verdict(picture <= latest)}"
    )


def _control_table(control: dict[int, dict[str, Any]]) -> str:
    head = ("key to picture, ms p50/p95 (× bare)", *(f"{tokens} tokens" for tokens in control))
    rows = [
        [case.name, *(_change(cases.get(case.name)) for cases in control.values())]
        for case in CASES
    ]
    there = [
        cases[case.name]["handler ms"].p95
        for cases in control.values()
        for case in CASES
        if case.bare and not case.fetched and case.name in cases
    ]
    handler = max(there, default=0.0)
    most = AIMS["handler of what is already there, ms p95"]
    lines = {
        tokens: max(cases[case.name]["ms"].p95 for case in CASES if "form=lines" in case.link)
        for tokens, cases in control.items()
        if tokens in LINES
    }
    painted = [
        f"\naim: lines at {tokens} tokens painted within {LINES[tokens]} ms at p95: {ms:.0f},"
        f" {_verdict(ms <= LINES[tokens])}"
        for tokens, ms in lines.items()
    ]
    return (
        table(head, rows)
        + "".join(painted)
        + _runs(control)
        + f"\naim: handler of what is already there within {most:.0f} ms at p95:"
        + f" {handler:.1f}, {_verdict(handler <= most)}"
    )


def _runs(control: dict[int, dict[str, Any]]) -> str:
    """The aims of what runs the model."""
    lines = []
    for (name, tokens), (middle, most) in RUNS.items():
        if name not in control.get(tokens, {}):
            continue
        ms = control[tokens][name]["ms"]
        met = ms.median <= middle and (most is None or ms.p95 <= most)
        aim = f"{middle}" if most is None else f"{middle}/{most}"
        lines.append(
            f"\naim: {name} at {tokens} tokens within {aim} ms:"
            f" {ms.median:.0f}/{ms.p95:.0f}, {_verdict(met)}"
        )
    return "".join(lines)


def _change(case: dict[str, Any] | None) -> str:
    if case is None:
        return "–"
    ms, times = case["ms"], case["times the bare canvas"]
    lost = f", {case['lost']} LOST" if case["lost"] else ""
    return f"{ms.median:.0f}/{ms.p95:.0f} ({times.median:.2f}){lost}"


def _largest(sizes: dict[str, int]) -> str:
    """What the first view of many heads fetched of data: all but files of Streamlit and ours."""
    size = sum(sizes.get(kind, 0) for kind in DATA) / 1024
    most = AIMS["first view of 12 x 12 at 512 tokens, KiB"]
    return f"first view of 12 × 12 at 512 tokens: {size:.0f} KiB of data, {_verdict(size <= most)}"


def _bytes_table(tokens: int, sizes: dict[str, Any]) -> str:
    kinds = ("Streamlit's files", "our files", "API", "other HTTP", "websocket in", "websocket out")
    rows = [
        [f"{name}: {part}", *(_kib(sums.get(kind, 0)) for kind in kinds)]
        for name, parts in sizes.items()
        for part, sums in parts.items()
    ]
    return table([f"KiB at {tokens} tokens", *kinds], rows)


def _kib(size: int) -> str:
    return f"{size / 1024:.1f}" if size else "–"


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
