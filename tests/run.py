"""`make test` and `make check`: install what the tests need, find a browser, run and add up.

    python -m tests.run             # what is fast and certain: run it before every commit
    python -m tests.run --long      # make check: the long tests instead, before a release
    python -m tests.run --long --write   # and keep the result in docs/check.md

A browser test that fails is run once more, alone, at the end. If it then passes, the run is green
and names it as flaky: a name that comes twice in a week is a bug.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import start

start.refuse_old_python()

from tests.browser.chromium import HOW_TO_GET_ONE, installed_browser  # noqa: E402

CHECKS = {
    "ruff format": ["-m", "ruff", "format", "--check", "."],
    "ruff check": ["-m", "ruff", "check", "."],
    "imports": ["-c", "from importlinter.cli import lint_imports_command as lint; lint()"],
    "pyright": ["-m", "pyright"],
    "JavaScript": ["-m", "tests.javascript"],
    "lines": ["-m", "tests.lines"],
}
PROCESSES = min(4, os.cpu_count() or 1)
FETCH_SECONDS = 300
RESULT = start.ROOT / "docs" / "check.md"


@dataclass(frozen=True)
class Part:
    """Some of the tests.

    Attributes:
        name: of the part.
        where: arguments of pytest that select its folder.
        processes: that share its tests. Those of the browser wait for half of their time.
        retried: whether a test that fails is run once more, alone.
    """

    name: str
    where: str
    processes: int
    retried: bool = False


BROWSER = Part("browser", "tests/browser", PROCESSES + 1, retried=True)
OTHERS = Part("not browser", "--ignore=tests/browser", PROCESSES)


@dataclass(frozen=True)
class Result:
    """What pytest reports of one part.

    Attributes:
        status: exit status.
        tests: number of tests.
        skipped: number of skipped tests.
        failures: the message of each test that failed, by its name.
        flaky: tests that failed at first and passed alone.
    """

    status: int
    tests: int
    skipped: int
    failures: dict[str, str]
    flaky: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    """Run everything, whatever fails on the way. Returns the exit status."""
    options = parse(arguments)
    started = time.monotonic()
    python = start.prepare("requirements-dev.txt")
    browser = os.environ.get("BROWSER") != "0"
    if browser:
        provide_browser(python)
    # kept even where the environment says not to: every process would compile all of it anew
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    checks = {} if options.long else CHECKS
    with ThreadPoolExecutor() as beside:
        begun = [beside.submit(start.output, [str(python), *check]) for check in checks.values()]
        parts = (BROWSER, OTHERS) if browser else (OTHERS,)
        tested = [run_pytest(python, part, long=options.long) for part in parts]
    passed = [report(name, *check.result()) for name, check in zip(checks, begun, strict=True)]
    lines = [*summary(tested, dict(zip(checks, passed, strict=True)), browser=browser)]
    print("\n" + "\n".join(lines))
    if options.write:
        write_result(lines, time.monotonic() - started)
    return 1 if not all(passed) or any(part.status for part in tested) else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Run the tests.")
    parser.add_argument("--long", action="store_true", help="the long tests instead")
    parser.add_argument("--write", action="store_true", help=f"keep the result in {RESULT.name}")
    return parser.parse_args(arguments)


def summary(tested: list[Result], checks: dict[str, bool], *, browser: bool) -> Iterator[str]:
    """The last lines of a run: what failed, what was flaky, and the counts."""
    for part in tested:  # failures again, where whoever reads only the end sees them
        yield from (f"FAILED {name}: {message}" for name, message in part.failures.items())
        yield from (f"FLAKY {name}: failed once, passed alone" for name in part.flaky)
    if not browser:
        yield "The browser tests were left out (BROWSER=0)."
    tests = sum(part.tests for part in tested)
    skipped = sum(part.skipped for part in tested)
    failed = sum(len(part.failures) for part in tested) + [*checks.values()].count(False)
    yield (
        f"{len(checks)} checks ({', '.join(checks)}) and {tests} tests:"
        if checks
        else (f"{tests} long tests:")
    )
    yield f"{tests + len(checks) - failed - skipped} passed, {failed} failed, {skipped} skipped"


def write_result(lines: list[str], seconds: float) -> None:
    """Keeps the result of a long run with its date and commit."""
    _, commit = start.output(["git", "rev-parse", "--short", "HEAD"])
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    RESULT.write_text(
        f"# The last `make check`\n\n{day}, commit {commit.strip()}, {seconds / 60:.0f} minutes:\n"
        + "".join(f"\n    {line}" for line in lines)
        + "\n",
        encoding="utf-8",
    )


def report(name: str, passed: bool, output: str) -> bool:
    """Prints a check’s output, after the tests that it ran beside; whether it passed."""
    print(f"{output}{name}: {'passed' if passed else 'FAILED'}", flush=True)
    return passed


def run_pytest(python: Path, part: Part, *, long: bool) -> Result:
    """Runs a part of the tests; a browser test that fails is run once more, alone."""
    select = ["-m", "long" if long else "not long"]
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), "-m", "pytest", part.where, "-q", "-rfEs", *select]
        command += ["-o", f"cache_dir={folder}/cache"]
        shared = ["-n", str(part.processes), "--dist", "worksteal", "--durations=10"]
        first = run_reported([*command, *shared], Path(folder, "report.xml"), part.name)
        if first.status != 1 or not part.retried:  # 1: some tests failed, and nothing else
            return first
        print("\nOnce more, alone:", flush=True)
        again = [*command, "--last-failed", "--last-failed-no-failures=none"]
        second = run_reported(again, Path(folder, "again.xml"), part.name)
    flaky = sorted(first.failures.keys() - second.failures.keys())
    return Result(second.status, first.tests, first.skipped, second.failures, flaky)


def run_reported(command: list[str], report: Path, name: str) -> Result:
    """Runs pytest and reads its report."""
    status = run([*command, f"--junitxml={report}"])
    if not report.exists():
        return Result(status or 1, 1, 0, {name: "ended without a report"})
    cases = list(ElementTree.parse(report).iter("testcase"))
    return Result(
        0 if status == 5 else status,  # 5: a part without a long test
        len(cases),
        skipped=sum(case.find("skipped") is not None for case in cases),
        failures={
            f"{case.get('classname')}::{case.get('name')}": str(problem.get("message"))
            for case in cases
            for problem in (*case.iter("failure"), *case.iter("error"))
        },
    )


def provide_browser(python: Path) -> None:
    """Get a Chromium where there is none; without one the browser tests will fail and say so."""
    ways = {"Playwright's own": [[str(python), "-m", "playwright", "install", "chromium"]]}
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
        install = [*apt, "install", "-y", "--no-install-recommends", "chromium"]
        ways["Debian's package"] = [[*apt, "update"], install]
    for what, commands in ways.items():
        if browser_is_here(python):
            return
        print(f"No Chromium here: fetching {what}", flush=True)
        for command in commands:
            succeeded, text = start.output(command, seconds=FETCH_SECONDS)
            if not succeeded:
                print(f"That failed:\n{start.tail(text, 2)}", flush=True)
    if not browser_is_here(python):
        print(HOW_TO_GET_ONE, flush=True)


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
