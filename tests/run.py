"""`make test`: install what the tests need, find a browser, run every check and add them up."""

import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import start

start.refuse_old_python()

from tests.browser.chromium import HOW_TO_GET_ONE, installed_browser  # noqa: E402

CHECKS = {
    "ruff format": ["ruff", "format", "--check", "."],
    "ruff check": ["ruff", "check", "."],
    "pyright": ["pyright"],
    "JavaScript": ["tests.javascript"],
}
PROCESSES = min(4, os.cpu_count() or 1)
# of the tests, with how many processes share each: those of the browser wait for half of their
# time, in which the checks run
PARTS = {
    "browser": (PROCESSES + 1, "tests/browser"),
    "not browser": (PROCESSES, "--ignore=tests/browser"),
}
FETCH_SECONDS = 300


def main() -> int:
    """Run everything, whatever fails on the way. Returns the exit status."""
    python = start.prepare("requirements-dev.txt")
    browser = os.environ.get("BROWSER") != "0"
    if browser:
        provide_browser(python)
    # kept even where the environment says not to: every process would compile all of it anew
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with ThreadPoolExecutor() as beside:
        begun = [
            beside.submit(start.output, [str(python), "-m", *check]) for check in CHECKS.values()
        ]
        parts = [run_pytest(python, part) for part in PARTS if browser or part != "browser"]
    results = [report(name, *check.result()) for name, check in zip(CHECKS, begun, strict=True)]
    tests = sum(part.tests for part in parts)
    skipped = sum(part.skipped for part in parts)
    failures = [failure for part in parts for failure in part.failures]
    failed = len(failures) + results.count(False)
    print()
    for failure in failures:  # again, where whoever reads only the end finds them
        print(failure)
    if not browser:
        print("The browser tests were left out (BROWSER=0).")
    print(f"{len(results)} checks ({', '.join(CHECKS)}) and {tests} tests:")
    passed = tests + len(results) - failed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or any(part.status for part in parts) else 0


def report(name: str, passed: bool, output: str) -> bool:
    """Prints a check’s output, after the tests that it ran beside; whether it passed."""
    print(f"{output}{name}: {'passed' if passed else 'FAILED'}", flush=True)
    return passed


@dataclass(frozen=True)
class Part:
    """What pytest's own report says of one part of the tests, and its exit status."""

    status: int
    tests: int
    skipped: int
    failures: list[str]


def run_pytest(python: Path, part: str) -> Part:
    processes, where = PARTS[part]
    shared = ["-n", str(processes), "--dist", "worksteal"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        options = ["-q", "-rfEs", "--durations=10", f"--junitxml={report}"]
        status = run([str(python), "-m", "pytest", where, *shared, *options])
        if not report.exists():
            return Part(status, 1, 0, [f"The part “{part}” ended without a report."])
        cases = list(ElementTree.parse(report).iter("testcase"))
    return Part(
        status,
        len(cases),
        skipped=sum(case.find("skipped") is not None for case in cases),
        failures=[
            f"FAILED {case.get('classname')}::{case.get('name')}: {found.get('message')}"
            for case in cases
            for found in (*case.iter("failure"), *case.iter("error"))
        ],
    )


def provide_browser(python: Path) -> None:
    """Get a Chromium where there is none; without one the browser tests will fail and say so."""
    if browser_is_here(python):
        return
    fetch("Playwright's own", [str(python), "-m", "playwright", "install", "chromium"])
    if not browser_is_here(python) and may_use_apt():
        fetch("apt's list", ["apt-get", "update"])
        fetch("apt's", ["apt-get", "install", "-y", "--no-install-recommends", "chromium"])
    if not browser_is_here(python):
        print(HOW_TO_GET_ONE, flush=True)


def may_use_apt() -> bool:
    return shutil.which("apt-get") is not None and hasattr(os, "geteuid") and os.geteuid() == 0


def fetch(what: str, command: list[str]) -> None:
    """Try one way to a browser, quietly unless it fails."""
    print(f"No Chromium here: fetching {what}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    fetched, text = start.output(command, environment, FETCH_SECONDS)
    if not fetched:
        lines = [line for line in text.splitlines() if line and not line.startswith("    at ")]
        print("That failed:\n" + start.tail("\n".join(lines), 2), flush=True)


def browser_is_here(python: Path) -> bool:
    """Ours to find, or one that only the Playwright in .venv knows of."""
    if installed_browser():
        return True
    return start.output([str(python), "-m", "tests.browser.chromium"])[0]


def run(command: list[str]) -> int:
    """Run a command from the project's folder, never waiting for input; its exit status."""
    return subprocess.run(command, cwd=start.ROOT, stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
