"""Latency, start and traffic of the app in a real browser.

    python -m benchmarks.browser [--changes 25] [--starts 5] [--tokens 16 512] [--no-bytes]
        [--only hover]

Change: from an event (a key, the pointer) to the painted picture. "Fetched": without prefetching;
"already there": with everything prefetched. Every visit opens a fresh page with a text of its own
and discards two warm-ups; visits are interleaved. An earlier commit is measured from a checkout
beside this one, in turns.
Start: from the start of the server process to its first answer, the first text and the first
picture, in a fresh context of a running browser. The first start has an empty app cache.
Bytes: on the wire, compressed: of the first view, and of what is fetched ahead.

Server and browser share the machine.
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from benchmarks import chrome, servers
from benchmarks.chrome import PAINTED, Traffic, fresh_page, to_picture, wait_for
from benchmarks.measure import Aim, Spread, Table, command, rotations

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "so", "it", "is")
TYPED = "romanian"  # every beginning is one token of MiniLM: typing it leaves the count as it is
WARM_UPS, CHANGES_A_VISIT = 2, 5
TOO_LATE = {  # ms p95 by name and tokens
    ("lines of 12 heads: next token", 512): 50,
    ("another network: seed", 512): 180,
}
ATLAS, LINES = '[aria-label^="All heads"]', '.hs-bipartite [role="listbox"]'
SEED = 'input[type="number"]'
BOX = "textarea, input[type=text]:not([role=combobox])"
TWELVE = "form=lines&shown=0.1.2.3.4.5.6.7.8.9.10.11"
VIT = "model=built-vit&size=224&patch=16&heads=12&dim=768&depth=12"

Act = Callable[[Page, int], object]


def keys(*names: str) -> Act:
    """Presses one key after the other, again from the first after the last."""
    return lambda page, number: page.keyboard.press(names[number % len(names)])


def hover(page: Page, number: int) -> None:
    """Moves the pointer to another patch."""
    box = page.locator(".hs-photo").bounding_box()
    if box is None:
        raise RuntimeError("there is no picture to point at")
    across, down = (number * 5 + 0.5) % 14 / 14, (number * 3 + 0.5) % 14 / 14
    page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])


def form(page: Page, number: int) -> None:
    """Shows another form of the picture."""
    name = ("Lines", "Matrix")[number % 2]
    page.get_by_role("button", name=name, exact=True).first.press("Enter")


RIGHT, DOWN, UP = keys("ArrowRight"), keys("ArrowDown"), keys("ArrowUp")


@dataclass(frozen=True)
class Case:
    """A change, and the page it is on.

    Attributes:
        name: what the table calls it.
        focus: the element that gets the keys.
        act: the change.
        link: of its page.
        lazy: whether the picture has to be fetched; then nothing is fetched ahead.
        mode: "same" for a change within a head and token: its picture is drawn anew; "drawn" for
            one that may show a picture that was drawn before.
        warm: what warms up, where `act` must not be used up.
        long: whether it is left out below 512 tokens: maps come with the overview there.
    """

    name: str
    focus: str
    act: Act
    link: str
    lazy: bool = False
    mode: str = "another"
    warm: Act | None = None
    long: bool = False

    def address(self, app: str, tokens: int, visit: int = 0) -> str:
        """The page at that many tokens; on every visit another text and other random weights."""
        if not self.link.startswith(("token", "form", "model=built&")):
            return f"{app}/{self.link}"
        special = 0 if "model=" in self.link else 2  # [CLS] and [SEP]
        every, first = 1 + visit // len(WORDS), visit % len(WORDS)
        words = [WORDS[(every * place + first) % len(WORDS)] for place in range(tokens - special)]
        if self.focus == BOX:
            words[-1] = TYPED[0]
        query = {"input": " ".join(words), "layer": 0, "head": 0}
        query |= {} if special else {"seed": 10 * visit}
        return f"{app}/?{urlencode(query)}&{self.link}"


CASES = (
    Case("another head: fetched", ATLAS, RIGHT, "token=0", lazy=True, long=True),
    Case("another layer: fetched", ATLAS, DOWN, "token=0", lazy=True, long=True, warm=RIGHT),
    Case("another head: already there", ATLAS, RIGHT, "token=0"),
    Case("another layer: already there", ATLAS, DOWN, "token=0", warm=RIGHT),
    Case("another form", ATLAS, form, "token=0", mode="drawn"),
    Case("lines of 12 heads: next token", LINES, DOWN, TWELVE, mode="same"),
    Case("lines: another head", ATLAS, RIGHT, "form=lines"),
    Case("hover over 196 patches", ".hs-photo", hover, f"?{VIT}"),
    Case("another network: seed", SEED, UP, "model=built&token=0", lazy=True),
    Case("a character typed", BOX, keys(*TYPED[1:]), "token=0", lazy=True),
)
VIEWS = {
    "text, 16 tokens": ("form=text", 16),
    "matrix, 512 tokens": ("token=0", 512),
    "12 × 12 heads, 512 tokens": ("model=built&heads=12&dim=96&depth=12&token=0", 512),
}


@command
def main(
    changes: int = 25,
    starts: int = 5,
    tokens: tuple[int, ...] = (16, 512),
    only: str = "",
    no_bytes: bool = False,
) -> Iterator[object]:
    with chrome.launched() as browser:
        if starts:
            yield from started(browser, starts)
        with servers.served() as app:
            for count in tokens if changes else ():
                cases = [case for case in CASES if only in case.name]
                cases = [case for case in cases if count >= 512 or not case.long]
                visits = -(-changes // CHANGES_A_VISIT)
                yield from changed(browser, cases, app.url, count, visits)
            if not no_bytes:
                yield from traffic(browser, app.url)


def changed(
    browser: Browser, cases: list[Case], app: str, tokens: int, visits: int
) -> Iterator[object]:
    """Milliseconds of every change at one length, visit by visit in turns."""
    times: dict[str, list[float]] = {case.name: [] for case in cases}
    for visit, order in enumerate(rotations(cases, visits)):
        for case in order:
            print(f"{tokens} tokens: {case.name}", file=sys.stderr)
            times[case.name] += visited(browser, case, case.address(app, tokens, visit), tokens)
    spreads = {name: Spread(each) for name, each in times.items()}
    rows = [[name, spread.latency] for name, spread in spreads.items()]
    yield Table([f"event to picture at {tokens} tokens", "ms p50/p95"], rows)
    for name, spread in spreads.items():
        if most := TOO_LATE.get((name, tokens)):
            yield Aim(f"{name}, ms p95", spread.p95, most)


def visited(browser: Browser, case: Case, address: str, tokens: int) -> list[float]:
    """Milliseconds of each change of one visit after the warm-ups."""
    with fresh_page(browser, **{"lazy": case.lazy, case.mode: True}) as page:
        heard = Traffic(page)
        page.goto(address, wait_until="commit")
        wait_for(page, PAINTED, f"the picture of {case.name}")
        heard.wait_until_quiet()
        if case.link == "token=0" and not page.locator(f'[aria-label*=" {tokens} quer"]').count():
            raise RuntimeError(f"{case.name}: the picture is not one of {tokens} tokens")
        if case.focus == SEED:
            page.get_by_role("button", name="Options").click()
        control = page.locator(case.focus).first
        control.scroll_into_view_if_needed()
        control.focus()
        if case.focus == BOX:
            control.press("End")
        for number in range(WARM_UPS):
            to_picture(page, lambda number=number: (case.warm or case.act)(page, number))
        first = 0 if case.warm else WARM_UPS
        return [
            to_picture(page, lambda number=number: case.act(page, number))
            for number in range(first, first + CHANGES_A_VISIT)
        ]


def started(browser: Browser, count: int) -> Iterator[object]:
    """Seconds from the start of a process, with nothing kept of an earlier one, and once more."""
    seconds: dict[str, list[tuple[float, ...]]] = {"very first start": [], "start": []}
    for _ in range(count):
        shutil.rmtree(servers.ROOT / ".cache", ignore_errors=True)
        for name in seconds:
            with fresh_page(browser) as page, servers.served() as server:
                answered = time.time()
                page.goto(server.url, wait_until="commit")
                text = wait_for(page, "probe.text", "the first text")["at"]
                painted_at = wait_for(page, PAINTED, "the picture")["at"]
                seconds[name].append(
                    tuple(at - server.began for at in (answered, text, painted_at))
                )
    rows = [[name, *map(Spread, zip(*each, strict=True))] for name, each in seconds.items()]
    yield Table(["seconds to", "first answer", "first text", "first picture"], rows)
    later = [painted_at - answered for answered, _, painted_at in seconds["start"]]
    yield Aim("picture, seconds after the server answers", Spread(later).median, 1.5)


def traffic(browser: Browser, app: str) -> Iterator[object]:
    """KiB by kind up to the first picture of some views, and of data after it."""
    rows = {}
    for name, (link, tokens) in VIEWS.items():
        with fresh_page(browser) as page:
            heard = Traffic(page)
            page.goto(Case("", "", RIGHT, link).address(app, tokens), wait_until="commit")
            painted_at = wait_for(page, PAINTED, f"the picture of {name}")["at"]
            heard.wait_until_quiet()
            first = [heard.kib(kind, 0, painted_at) for kind in ("Streamlit", "code", "data")]
            rows[name] = [*first, heard.kib("data", painted_at)]
    head = ["KiB on the wire", "Streamlit", "our code", "data", "data fetched ahead"]
    yield Table(head, [[name, *sizes] for name, sizes in rows.items()])
    text, *_, largest = rows.values()
    yield Aim("code of the text view, KiB", text[1], 200)
    yield Aim("data of 12 × 12 heads, KiB", largest[2], 307)


if __name__ == "__main__":
    sys.exit(main())
