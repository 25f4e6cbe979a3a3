"""The interactions of the browser benchmark: opening a page at a text length, key presses."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from benchmarks.chrome import Traffic, fresh_page, wait_for

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "so", "it", "is")
TYPED = "romanian"  # every beginning is one token of MiniLM: typing it leaves the count as it is
WARM_UPS = 2  # key presses before the first that counts, on every page
CHANGES_A_VISIT = 5  # as many layers as there are below MiniLM's first
AHEAD_MS = 900  # after this long without a request, nothing more is fetched ahead
PAUSE_MS = 350
LOST_SECONDS = 30  # a picture that has not come by then is not coming
ATLAS = '[aria-label^="All heads"]'
SEED = 'input[type="number"]'
BOX = "textarea, input[type=text]:not([role=combobox])"
PAINTED = "probe.picture"


@dataclass(frozen=True)
class Case:
    """One change, and the page it is on.

    Attributes:
        name: what the tables call it.
        bare: the case of the bare canvas page it stands beside; "" for that case itself.
        focus: the element that gets the keys.
        keys: pressed one after the other, again from the first after the last.
        model: of the app.
        fetched: whether the picture has to be fetched; then nothing is fetched ahead.
        tokens: other lengths of text than these are left out; () for any.
        warm_keys: pressed to warm up, where `keys` must not be used up.
        link: of the app's page, instead of a matrix with a pinned token.
        same: whether the change is within a head: its picture is drawn anew.
        typed: whether the keys complete the word TYPED, whose first letter ends the text.
    """

    name: str
    bare: str
    focus: str
    keys: tuple[str, ...]
    model: str = "minilm"
    fetched: bool = True
    tokens: tuple[int, ...] = ()
    warm_keys: tuple[str, ...] = ()
    link: str = ""
    same: bool = False
    typed: bool = False

    def url(self, urls: dict[str, str], tokens: int, visit: int = 0) -> str:
        """The page at that many tokens; on every visit another text and other random weights."""
        if not self.bare:
            kept = {} if self.fetched else {"kept": "yes"}
            return f"{urls['canvas']}/bare?{urlencode({'side': tokens, **kept})}"
        special = 2 if self.model == "minilm" else 0  # [CLS] and [SEP]
        every, first = 1 + visit // len(WORDS), visit % len(WORDS)
        words = [WORDS[(every * place + first) % len(WORDS)] for place in range(tokens - special)]
        if self.typed:
            words[-1] = TYPED[0]
        query = {"input": " ".join(words), "layer": 0, "head": 0}
        query |= {} if special else {"model": self.model, "seed": 10 * visit}
        return f"{urls['app']}/?{urlencode(query)}&{self.link or 'token=0'}"


FETCHED, THERE = "bare canvas: fetched", "bare canvas: already there"
NETWORK, TYPING = "another network: seed", "a character typed"
RIGHT, DOWN = ("ArrowRight",), ("ArrowDown",)
LINES = '.hs-bipartite [role="listbox"]'
TWELVE = "form=lines&shown=0.1.2.3.4.5.6.7.8.9.10.11"
LONG = (512,)  # shorter maps come with the overview: there is nothing to fetch
CASES = (
    Case(FETCHED, "", "canvas", RIGHT),
    Case(THERE, "", "canvas", RIGHT, fetched=False),
    Case("another head: fetched", FETCHED, ATLAS, RIGHT, tokens=LONG),
    Case("another layer: fetched", FETCHED, ATLAS, DOWN, tokens=LONG, warm_keys=RIGHT),
    Case("another head: already there", THERE, ATLAS, RIGHT, fetched=False),
    Case("another layer: already there", THERE, ATLAS, DOWN, fetched=False, warm_keys=RIGHT),
    Case(
        "lines of 12 heads: next token", THERE, LINES, DOWN, fetched=False, link=TWELVE, same=True
    ),
    Case("lines: another head", THERE, ATLAS, RIGHT, fetched=False, link="form=lines"),
    Case(NETWORK, FETCHED, SEED, ("ArrowUp",), "built"),
    Case(TYPING, FETCHED, BOX, tuple(TYPED[1:]), typed=True),
)

MANY_WORDS = " ".join(WORDS[place % len(WORDS)] for place in range(512))
LARGEST = "/?" + urlencode(  # 12 layers of 12 heads at 512 tokens
    {"model": "built", "heads": 12, "dim": 96, "depth": 12, "layer": 0, "head": 0, "token": 0}
    | {"input": MANY_WORDS}
)


def applies(case: Case, tokens: int) -> bool:
    """Whether a case can be measured at that many tokens."""
    return not case.tokens or tokens in case.tokens


@contextmanager
def opened(
    browser: Browser, case: Case, urls: dict[str, str], tokens: int, visit: int = 0
) -> Iterator[Page]:
    """The case's page with its picture painted, at rest, the control focused.

    Raises:
        RuntimeError: if the picture does not come, or is one of another length.
    """
    with fresh_page(browser) as page:
        page.add_init_script(f"probe.lazy = {str(case.fetched).lower()}")
        page.add_init_script(f"probe.same = {str(case.same).lower()}")
        with Traffic.of(page) as heard:
            page.goto(case.url(urls, tokens, visit), wait_until="commit")
            wait_for(page, PAINTED, f"the picture of {case.name}")
            heard.wait_until_quiet(page)
        matrix = case.bare and not case.link
        if matrix and not page.locator(f'[aria-label*=" {tokens} query"]').count():
            raise RuntimeError(f"{case.name}: the picture is not one of {tokens} tokens")
        control = page.locator(case.focus).first
        control.focus()
        if case.focus == BOX:
            control.press("End")
        yield page


def press(page: Page, key: str, *, ahead: bool = False) -> dict[str, Any] | None:
    """A key press: milliseconds to the painted picture and in the handler, whether it was fetched.

    Args:
        page: with the focus on a control.
        key: that is pressed.
        ahead: whether to wait afterwards until nothing more is fetched ahead.

    Returns:
        None if there is no new picture.
    """
    before = page.evaluate("probe.changes.length")
    deadline = time.monotonic() + LOST_SECONDS
    page.keyboard.press(key)
    page.wait_for_timeout(PAUSE_MS)
    while page.evaluate("probe.changes.length") == before:
        if time.monotonic() > deadline:
            return None
        page.wait_for_timeout(30)
    wait_for(
        page, f"performance.now() - probe.fetched > {AHEAD_MS}", "the end of the fetching ahead"
    )
    return page.evaluate("probe.changes.at(-1)")


def changes(
    browser: Browser, case: Case, urls: dict[str, str], tokens: int, visit: int = 0
) -> list[dict[str, Any] | None]:
    """Each change of one visit after the warm-ups; None for one that got lost."""
    with opened(browser, case, urls, tokens, visit) as page:
        for number in range(WARM_UPS):
            keys = case.warm_keys or case.keys
            press(page, keys[number % len(keys)], ahead=not case.fetched)
        begun = 0 if case.warm_keys else WARM_UPS
        return [
            press(page, case.keys[number % len(case.keys)], ahead=not case.fetched)
            for number in range(begun, begun + CHANGES_A_VISIT)
        ]
