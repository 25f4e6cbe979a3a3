"""Actions of the browser benchmark on a page: open, press a key, wait for the picture."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from benchmarks.chrome import Traffic, fresh_page, wait_for

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "so", "it", "is")
WARM_UPS = 3  # key presses before the first that counts, on every page
CHANGES_A_VISIT = 5  # as many layers as there are below MiniLM's first
PAUSE_MS = 350
LOST_SECONDS = 10  # a picture that has not come by then is not coming
ATLAS = '[aria-label^="All heads"]'
PAINTED = "probe.picture"


@dataclass(frozen=True)
class Case:
    """One control, and the page it is on.

    Attributes:
        name: what the tables call it.
        server: "canvas" or "app".
        focus: the element that gets the keys.
        key: what is pressed.
        warm_key: what is pressed to warm up, where `key` must not be used up.
        model: of the app.
    """

    name: str
    server: str
    focus: str
    key: str
    warm_key: str
    model: str = "minilm"

    def url(self, base: str, tokens: int) -> str:
        """The page at that many tokens."""
        if self.server == "canvas":
            return f"{base}/?{urlencode({'side': tokens})}"
        special = 2 if self.model == "minilm" else 0  # [CLS] and [SEP]
        text = " ".join(WORDS[place % len(WORDS)] for place in range(tokens - special))
        query = {"input": text, "layer": 0, "head": 0, "token": 0}
        return f"{base}/?{urlencode(query | ({} if special else {'model': self.model}))}"


CASES = (
    Case("bare canvas: slider", "canvas", ".st-key-head input", "ArrowRight", "ArrowRight"),
    Case("another head (loaded)", "app", ATLAS, "ArrowRight", "ArrowRight"),
    Case("another layer", "app", ATLAS, "ArrowDown", "ArrowRight"),
    Case("another network: seed", "app", ".st-key-text_seed input", "ArrowUp", "ArrowUp", "built"),
)


@contextmanager
def opened(browser: Browser, case: Case, base: str, tokens: int) -> Iterator[Page]:
    """The case's page with its picture painted, at rest, the control focused.

    Raises:
        RuntimeError: if the picture does not come, or is one of another length.
    """
    with fresh_page(browser) as page:
        with Traffic.of(page) as heard:
            page.goto(case.url(base, tokens), wait_until="commit")
            wait_for(page, PAINTED, f"the picture of {case.name}")
            heard.wait_until_quiet(page)
        if case.server == "app" and not page.locator(f'[aria-label*=" {tokens} query"]').count():
            raise RuntimeError(f"{case.name}: the picture is not one of {tokens} tokens")
        page.locator(case.focus).first.focus()
        yield page


def press(page: Page, key: str) -> float | None:
    """Milliseconds from a key press to the painted picture; None if there is no new picture."""
    before = page.evaluate("probe.changes.length")
    deadline = time.monotonic() + LOST_SECONDS
    page.keyboard.press(key)
    page.wait_for_timeout(PAUSE_MS)
    while page.evaluate("probe.changes.length") == before:
        if time.monotonic() > deadline:
            return None
        page.wait_for_timeout(30)
    return float(page.evaluate("probe.changes.at(-1)"))


def changes(browser: Browser, case: Case, base: str, tokens: int) -> list[float | None]:
    """Milliseconds of each change on one visit, after the warm-ups; None for one that got lost."""
    with opened(browser, case, base, tokens) as page:
        for _ in range(WARM_UPS):
            press(page, case.warm_key)
        return [press(page, case.key) for _ in range(CHANGES_A_VISIT)]
