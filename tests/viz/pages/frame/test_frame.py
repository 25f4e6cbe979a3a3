"""The bar above every page, and what a shared link says of itself."""

from html.parser import HTMLParser
from importlib import import_module
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers
from viz.api import server
from viz.api.server import Preview, with_preview
from viz.pages.frame import registry
from viz.pages.state.session import APP

SCRIPT = """
import streamlit as st
from viz.pages.frame import bar
from viz.pages.shared import device
from viz.pages.state import link_on_entry
link_on_entry.enter("one", ())
st.markdown(device())
bar.device()
"""


@pytest.mark.parametrize("names", [("cpu",), ("cpu", "cuda")])
def test_the_device_is_chosen_where_there_are_several(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("viz.pages.compute"), "devices", lambda: names)
    app = AppTest.from_string(SCRIPT).run()
    assert app.markdown[0].value == "cpu"
    offered: list[Any] = list(app.get("button_group"))
    assert [each.label for each in offered] == ["Device"] * (len(names) > 1)
    for choice in offered:
        assert [each.content for each in choice.proto.options] == ["CPU", "CUDA"]
        assert helpers.choose(app, APP, "device", "cuda").markdown[0].value == "cuda"


HOSTILE = '"><script>alert(1)</script>&amp;'


class Head(HTMLParser):
    """Titles, tags and scripts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.title, self.tags, self.scripts, self.within = "", {}, 0, ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.within = tag
        given = dict(attrs)
        self.scripts += tag == "script"
        if tag == "meta" and given.get("content") is not None:
            self.tags[given.get("property") or given.get("name")] = given["content"]

    def handle_data(self, data: str) -> None:
        if self.within == "title":
            self.title += data
            self.within = ""


@pytest.mark.parametrize("name", registry.ENTRIES)
def test_every_page_has_a_preview(name: str) -> None:
    told = registry.preview(name, {})
    assert told.title
    assert len(told.description) > 10


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ({"model": "minilm"}, "all-MiniLM-L6-v2"),
        ({"model": "minilm", "layer": "2", "head": "1"}, "all-MiniLM-L6-v2 · layer 2, head 1"),
        ({"model": "minilm", "layer": HOSTILE, "head": "mean"}, "all-MiniLM-L6-v2"),
        ({"model": HOSTILE}, registry.QUESTION),
    ],
)
def test_a_title_says_what_is_chosen(query: dict[str, str], title: str) -> None:
    assert registry.preview("explore", query).title == title


def test_what_a_link_says_is_escaped() -> None:
    page = server.index_page()
    head = Head(with_preview(page, Preview(HOSTILE, HOSTILE), f"http://127.0.0.1/{HOSTILE}"))
    assert head.scripts == Head(page).scripts
    assert HOSTILE in head.title
    assert head.tags["og:title"] == head.tags["og:description"] == HOSTILE
    assert head.tags["description"] == HOSTILE
    assert head.tags["og:image"] == f"http://127.0.0.1/{HOSTILE}"
