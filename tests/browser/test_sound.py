"""A recording over its time, in a browser without Streamlit."""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from models.inputs.sound import Recording
from tests.analysis.test_alignment import planted
from tests.browser.explorer_pages import Traced, open_text
from tests.browser.views import SIZES, Server, open_lab
from viz.api.entries import TraceEntry

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def opened(page: Page, server: Server, size: str, **start: str) -> None:
    model: Any = SimpleNamespace(sound=None, tokenizer=None)
    given = Recording(np.zeros(16_000, np.float32), 16_000)
    heard = TraceEntry(planted(), opened=lambda: (model, given, None))
    chosen = {"layer": 0, "head": 1, "attention": "cross", "form": "sound", **start}
    open_text(page, server, Traced(heard), size, **chosen).is_painted()


@pytest.mark.parametrize("size", SIZES)
def test_a_word_shades_its_time_and_chooses_the_row_that_writes_it(
    page: Page, server: Server, size: str
) -> None:
    opened(page, server, size)
    words = page.get_by_role("radiogroup", name="Words of the transcript").get_by_role("radio")
    expect(words).to_have_text(["The", "quick", "fox.", "It", "ran"])
    words.nth(2).click()
    expect(words.nth(2)).to_have_attribute("aria-checked", "true")
    told = page.locator(".hs-sound > .hs-read")
    expect(told).to_contain_text("“fox.” 0.46–0.60 s")
    expect(told).to_contain_text("of this head’s weight lies within the word")
    expect(page.locator(".hs-sound .hs-sentence")).to_contain_text("while the model writes “fox.”")
    words.nth(2).press("ArrowRight")
    expect(words.nth(3)).to_be_focused()
    expect(told).to_contain_text("“It” 0.72–0.80 s")
    page.wait_for_url(re.compile("token=6"))
    open_lab(page, "Save")
    with page.expect_download() as download:
        page.get_by_role("button", name="SRT").click()
    assert download.value.suggested_filename == "planted-words.srt"


def test_times_come_from_other_heads(page: Page, server: Server) -> None:
    opened(page, server, "wide")
    server.props["edits"] = []
    page.reload()
    open_lab(page, "Numbers")
    tabs = page.get_by_role("group", name="Lab")
    expect(tabs).to_contain_text("Experiment")
    expect(tabs).not_to_contain_text("Compare")  # nothing can stand beside a recording
    method = page.get_by_role("combobox", name="Times from")
    expect(method.locator("option")).to_have_text(["Checkpoint’s heads", "Heads that follow time"])
    method.select_option("Heads that follow time")
    expect(page.get_by_text("through the heads that follow time best")).to_be_visible()
