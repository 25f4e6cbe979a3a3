"""Random actions at machine speed on every page: counts inconsistent final states.

    python -m benchmarks.hostile [--seeds 20] [--first 0] [--actions 300] [--pages Explore]
        [--url http://127.0.0.1:8501]

Each seed is a fresh browser in which tests/browser/driver.py performs its actions, waits until the
page is at rest and compares controls, picture and address with the same address in a new tab. A
seed that takes longer than 15 minutes has failed. `--pages` are names in the bar; `--url` drives an
app that already runs.
"""

import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks import servers
from benchmarks.chrome import SIZE, launched
from benchmarks.measure import Aim, Table, command
from tests.browser.driver import ACTIONS, PLACES, Drive, drive

LIMIT_SECONDS = 900  # of a seed
NAMES = (*dict.fromkeys(place.name for place in PLACES),)


@command
def main(
    seeds: int = 20,
    first: int = 0,
    actions: int = ACTIONS,
    pages: tuple[str, ...] = NAMES,
    url: str = "",
) -> Iterator[object]:
    rows = []
    with ExitStack() as stack:
        address = url or stack.enter_context(servers.served()).url
        for number in range(first, first + seeds):
            began = time.monotonic()
            seed = in_time(address, number, actions, pages)
            seconds, count = time.monotonic() - began, len(seed.problems)
            rows.append([number, sum(seed.done.values()), seconds, count])
            yield f"seed {number}: {count} problems, {seconds:.0f} s"
            if seed.problems:
                yield "\n".join([*seed.problems, "after:", *seed.log])
    yield Table(["seed", "actions", "seconds", "problems"], rows)
    yield Aim(f"seeds that failed, of {len(rows)}", sum(row[-1] > 0 for row in rows), 0)


def in_time(url: str, number: int, actions: int, pages: tuple[str, ...]) -> Drive:
    """One seed in a process of its own: a page that hangs never answers Playwright."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(driven, (url, number, actions, pages)).get(LIMIT_SECONDS)
        except multiprocessing.TimeoutError:
            return Drive(number, problems=[f"stopped: not at its end after {LIMIT_SECONDS} s"])
        except RuntimeError as error:
            return Drive(number, problems=[f"stopped: {error}"])


def driven(url: str, number: int, actions: int, pages: tuple[str, ...]) -> Drive:
    """Performs a seed."""
    places = tuple(place for place in PLACES if place.name in pages)
    with launched() as browser:
        page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
        return drive(page, url, number, actions, places)


if __name__ == "__main__":
    sys.exit(main())
