"""Latency, start and traffic of the app in a real browser, compared with minimal pages.

    python -m benchmarks.browser [--changes 25] [--starts 5] [--tokens 16 512] [--no-bytes]
        [--only hover]

Change: from an event (a key, the pointer) to the painted picture. "Fetched": without prefetching;
compared with a canvas on a plain page that fetches as many bytes. "Already there": with everything
prefetched; compared with the same canvas with the bytes in memory. Every visit opens a fresh page
with a text of its own and discards two warm-ups; visits are interleaved.
Start: from the start of the server process to the first text and the first picture, in a fresh
context of a running browser; compared with a one-line Streamlit page. The first start has an empty
app cache.
Bytes: on the wire, compressed: of the first view, and of what is fetched ahead.

Server and browser share the machine.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, Page

from benchmarks import chrome, servers
from benchmarks.chrome import PAINTED, Traffic, fresh_page, to_picture, wait_for
from benchmarks.measure import Aim, Spread, Table, command, ratios, rotations

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "so", "it", "is")
TYPED = "romanian"  # every beginning is one token of MiniLM: typing it leaves the count as it is
WARM_UPS, CHANGES_A_VISIT = 2, 5
TOO_LATE = {  # ms p95 by name and tokens
    ("lines of 12 heads: next token", 512): 50,
    ("another network: seed", 512): 180,
    ("a slider of Architecture", 16): 225,
}
ATLAS, LINES = '[aria-label^="All heads"]', '.hs-bipartite [role="listbox"]'
SEED = 'input[type="number"]'
SLIDER = '[role=slider][aria-label="Tokens"]'
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
THERE_AND_BACK = keys("ArrowRight", "ArrowLeft")


@dataclass(frozen=True)
class Case:
    """A change, and the page it is on.

    Attributes:
        name: what the table calls it.
        focus: the element that gets the keys.
        act: the change.
        link: of the app's page; "" for the bare canvas.
        lazy: whether the picture has to be fetched; then nothing is fetched ahead.
        mode: "same" for a change within a head and token: its picture is drawn anew; "drawn" for
            one that may show a picture that was drawn before.
        warm: what warms up, where `act` must not be used up.
        long: whether it is left out below 512 tokens: maps come with the overview there.
    """

    name: str
    focus: str
    act: Act
    link: str = ""
    lazy: bool = False
    mode: str = "another"
    warm: Act | None = None
    long: bool = False

    def address(self, app: str, plain: str, tokens: int, visit: int = 0) -> str:
        """The page at that many tokens; on every visit another text and other random weights."""
        if not self.link:
            return f"{plain}/canvas.html?side={tokens}{'' if self.lazy else '&kept'}"
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


FETCHED, THERE = "bare canvas: fetched", "bare canvas: already there"
CASES = (
    Case(FETCHED, "canvas", RIGHT, lazy=True),
    Case(THERE, "canvas", RIGHT),
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
    Case(
        "a slider of Architecture", SLIDER, THERE_AND_BACK, "architecture?preset=small", mode="same"
    ),
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
    with chrome.launched() as browser, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if starts:
            yield from started(browser, folder, starts)
        shutil.copy(Path(__file__).with_name("canvas.html"), folder)
        for side in tokens:
            (folder / f"bytes{side}").write_bytes(bytes(place % 251 for place in range(side**2)))
        with chrome.files(folder) as plain, servers.served() as app:
            for count in tokens if changes else ():
                cases = [each for each in CASES if count >= 512 or not each.long]
                cases = [each for each in cases if only in each.name or not each.link]
                visits = -(-changes // CHANGES_A_VISIT)
                yield from changed(browser, cases, (app.url, plain), count, visits)
            if not no_bytes:
                yield from traffic(browser, app.url)


def changed(
    browser: Browser, cases: list[Case], urls: tuple[str, str], tokens: int, visits: int
) -> Iterator[object]:
    """Milliseconds of every change at one length, visit by visit in turns."""
    times: dict[str, list[list[float]]] = {case.name: [] for case in cases}
    for visit, order in enumerate(rotations(cases, visits)):
        for case in order:
            print(f"{tokens} tokens: {case.name}", file=sys.stderr)
            address = case.address(*urls, tokens, visit)
            times[case.name].append(visited(browser, case, address, tokens))
    medians = {name: [*np.nanmedian(each, axis=1)] for name, each in times.items()}
    rows, aims = [], []
    for case in cases:
        spread = Spread(np.ravel(times[case.name]).tolist())
        bare = ratios(medians[case.name], medians[FETCHED if case.lazy else THERE])
        rows.append([case.name, spread.latency, bare.median])
        if most := TOO_LATE.get((case.name, tokens)):
            aims.append(Aim(f"{case.name}, ms p95", spread.p95, most))
    yield Table([f"event to picture at {tokens} tokens", "ms p50/p95", "× bare canvas"], rows)
    yield from aims


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


def started(browser: Browser, folder: Path, count: int) -> Iterator[object]:
    """Seconds from the start of a process to what it first shows.

    Ours twice: with nothing kept of an earlier start, and right after that.
    """
    (folder / "hello.py").write_text('import streamlit as st\n\nst.write("hello")\n', "utf-8")
    shutil.copytree(servers.ROOT / ".streamlit", folder / ".streamlit")
    hello, first, again = [], [], []
    for order in rotations(["hello", "ours"], count):
        for name in order:
            if name == "hello":
                hello.append(start(browser, folder, "hello.py"))
            else:
                shutil.rmtree(servers.ROOT / ".cache", ignore_errors=True)
                first.append(start(browser, servers.ROOT, "app.py"))
                again.append(start(browser, servers.ROOT, "app.py"))
    texts = [text for text, _ in again]
    later = Spread([ours - theirs for ours, (theirs, _) in zip(texts, hello, strict=True)])
    pictures = Spread([picture for _, picture in again])
    rows = [
        ["one-line page: text", Spread([text for text, _ in hello])],
        ["text", Spread(texts)],
        ["text, later than the one-line page", later],
        ["picture", pictures],
        ["picture, very first start", Spread([picture for _, picture in first])],
    ]
    yield Table(["seconds from the start of the process", "median (p10–p90)"], rows)
    yield Aim("text, seconds after the one-line page", later.median, 0.3)
    yield Aim("picture, seconds", pictures.median, 4.0)


def start(browser: Browser, folder: Path, script: str) -> tuple[float, float]:
    """Seconds to the text and the picture of one start; NaN for a page without a picture."""
    port = servers.free_port()
    process = servers.running(servers.page(script, port), folder, port)
    with fresh_page(browser) as page, process as server:
        page.goto(server.url, wait_until="commit")
        text = wait_for(page, "probe.text", "the first text")["at"]
        shown = wait_for(page, PAINTED, "the picture")["at"] if script == "app.py" else np.nan
        return text - server.began, shown - server.began


def traffic(browser: Browser, app: str) -> Iterator[object]:
    """KiB by kind up to the first picture of some views, and of data after it."""
    rows = {}
    for name, (link, tokens) in VIEWS.items():
        with fresh_page(browser) as page:
            heard = Traffic(page)
            page.goto(Case("", "", RIGHT, link).address(app, "", tokens), wait_until="commit")
            shown = wait_for(page, PAINTED, f"the picture of {name}")["at"]
            heard.wait_until_quiet()
            first = [heard.kib(kind, 0, shown) for kind in ("Streamlit", "code", "data")]
            rows[name] = [*first, heard.kib("data", shown)]
    head = ["KiB on the wire", "Streamlit", "our code", "data", "data fetched ahead"]
    yield Table(head, [[name, *sizes] for name, sizes in rows.items()])
    text, *_, largest = rows.values()
    yield Aim("code of the text view, KiB", text[1], 200)
    yield Aim("data of 12 × 12 heads, KiB", largest[2], 307)


if __name__ == "__main__":
    sys.exit(main())
