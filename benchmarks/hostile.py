"""Random actions at machine speed on every page: counts inconsistent final states.

    python -m benchmarks.hostile [--seeds 20] [--first 0] [--actions 300] [--load 2] [--json]

Each seed is a fresh browser in which tests/browser/driver.py performs its actions, waits until the
page is at rest and compares controls, picture and address with the same address in a new tab. A
seed that takes longer than 15 minutes has failed. `--load 2` keeps two loops busy beside it.
`--url` drives an app that already runs.
"""

import argparse
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from typing import Any

from playwright.sync_api import Error

from benchmarks import servers
from benchmarks.chrome import SIZE, launched
from benchmarks.measure import as_json, machine, machine_line, table
from tests.browser.driver import ACTIONS, PLACES, Drive, drive

PACKAGES = ("streamlit", "torch", "playwright")
LIMIT_SECONDS = 900  # of a seed


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns 1 if a seed failed."""
    options = parse(arguments)
    try:
        with launched() as browser:
            version = browser.version
        with ExitStack() as stack:
            url = options.url or stack.enter_context(servers.served()).url
            stack.enter_context(busy(options.load))
            report = {
                "benchmark": "hostile",
                "machine": {**machine(PACKAGES), "browser": f"Chromium {version}"},
                "busy loops": options.load,
                "seeds": [
                    seed(url, number, options)
                    for number in range(options.first, options.first + options.seeds)
                ],
            }
    except RuntimeError as error:
        print(f"benchmarks.hostile: {error}", file=sys.stderr)
        return 1
    print(as_json(report) if options.json else text(report))
    return int(any(each["problems"] for each in report["seeds"]))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Hostile use of every page, seed by seed.")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--actions", type=int, default=ACTIONS, help="of each seed")
    parser.add_argument("--pages", nargs="+", help="only these, by their names in the menu")
    parser.add_argument("--load", type=int, default=0, help="busy loops beside it")
    parser.add_argument("--url", default="", help="of an app that runs already")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args(arguments)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keeps so many processes busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def seed(url: str, number: int, options: argparse.Namespace) -> dict[str, Any]:
    """One seed in a process of its own: a page that hangs never answers Playwright."""
    spawned = multiprocessing.get_context("spawn")
    received, sent = spawned.Pipe(duplex=False)
    process = spawned.Process(target=driven, args=(sent, url, number, options))
    began = time.monotonic()
    process.start()
    sent.close()
    try:
        if received.poll(LIMIT_SECONDS):
            drive_result = received.recv()
        else:
            drive_result = Drive(
                number, problems=[f"stopped: not at its end after {LIMIT_SECONDS} s"]
            )
            process.kill()
    except EOFError:
        drive_result = Drive(
            number, problems=["stopped: the driver has failed (see its traceback)"]
        )
    process.join()
    seconds = time.monotonic() - began
    lines = [
        f"seed {number}: {len(drive_result.problems)} problems, {seconds:.0f} s",
        *drive_result.problems,
    ]
    if drive_result.problems:
        lines += ["after:", *drive_result.log]
    print("\n".join(lines), file=sys.stderr, flush=True)
    return {
        "seed": number,
        "seconds": seconds,
        "actions": sum(drive_result.done.values()),
        "done": drive_result.done,
        "problems": drive_result.problems,
        "log": drive_result.log if drive_result.problems else [],
        "left out": len(drive_result.left_out),
    }


def driven(sent: Connection, url: str, number: int, options: argparse.Namespace) -> None:
    """Performs a seed and sends what it found."""
    wanted = set(options.pages or [place.name for place in PLACES])
    places = tuple(place for place in PLACES if place.name in wanted)
    try:
        with launched() as browser:
            page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
            result = drive(page, url, number, options.actions, places)
    except Error as error:
        result = Drive(number, problems=[f"stopped: {error}".splitlines()[0]])
    sent.send(result)


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    seeds = report["seeds"]
    rows = [
        [
            str(each["seed"]),
            str(each["actions"]),
            f"{each['seconds']:.0f}",
            str(len(each["problems"])),
        ]
        for each in seeds
    ]
    failed = [each for each in seeds if each["problems"]]
    problems = [
        f"seed {each['seed']}: {problem}" for each in failed for problem in each["problems"]
    ]
    return "\n\n".join(
        [
            machine_line(report["machine"]),
            table(("seed", "actions", "seconds", "problems"), rows),
            f"{len(failed)} of {len(seeds)} seeds failed beside {report['busy loops']} busy loops",
            *(["\n".join(problems)] if problems else []),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
