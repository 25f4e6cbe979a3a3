"""The pages of the app: names, titles and modules."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import streamlit as st

from viz import course
from viz.api.server import Preview
from viz.pages import Lazy


@dataclass(frozen=True)
class Entry:
    """A page.

    Attributes:
        name: of the page, also its URL path.
        title: for display.
        module: its function `page` draws the page; imported when the page is opened.
        part_of: the entry of the bar that is marked while the page is shown.
        arguments: of that function.
        kind: of the view whose modules the browser fetches with the page itself; "" for none.
        section: what its tab in the bar is called.
    """

    name: str
    title: str
    module: str
    part_of: str
    arguments: tuple[str, ...] = ()
    kind: str = ""
    section: str = ""

    def draw(self) -> None:
        """Draws the page."""
        import_module(self.module).page(*self.arguments)


FIRST = "explore"  # the page at "/"
BUILD = "build"
COURSE = "course"
BAR = (
    Entry(FIRST, "Explore", "viz.pages.explore.page", FIRST, section="Explore"),
    Entry(BUILD, "Build", "viz.pages.build.page", BUILD, kind="build", section="Build"),
    Entry("corpus", "Heads", "viz.pages.corpus.page", "corpus", kind="corpus", section="Heads"),
    Entry(COURSE, "Course", "viz.pages.lessons.page", COURSE, section="Course"),
)
LESSONS = tuple(
    Entry(each.name, each.title, "viz.pages.lessons.page", COURSE, (each.name,))
    if each.steps
    else Entry(each.name, each.title, f"viz.pages.lessons.{each.name}", COURSE)
    for each in course.COURSE
)
ENTRIES = {entry.name: entry for entry in (*BAR, *LESSONS)}


def prepare() -> None:
    """Imports the first page."""
    import_module(ENTRIES[FIRST].module)
    inspect.stack()  # Streamlit's first command makes the same call; it fills caches of all modules


def pages() -> dict[str, st.Page]:
    """All pages by name, for `st.navigation`, `st.page_link` and `st.switch_page`."""
    return {name: page(name) for name in ENTRIES}


def page(name: str) -> st.Page:
    """The page of that name."""
    entry = ENTRIES[name]
    return st.Page(entry.draw, title=entry.title, url_path=name, default=name == FIRST)


def entry_of(page: st.Page) -> Entry:
    """The entry of a page; the first page's `url_path` is empty."""
    return ENTRIES[page.url_path or FIRST]


# ---- what a link to a page says of itself before it is opened

source = Lazy("viz.pages.explore.source")
PICTURE = "web/cards/share.png"
QUESTION = "Which words does each word look at?"
ABOUT = (
    "Every attention head of a model on your own text, picture or sound: what it looks at, what"
    " follows when it is switched off, and the numbers behind it."
)


def preview(name: str, query: Mapping[str, str]) -> Preview:
    """The preview of a link; one to Explore names the model of the list, layer and head.

    Args:
        name: of the page.
        query: of the link.
    """
    lesson = course.find(name)
    if lesson is not None:
        return Preview(lesson.title, lesson.line)
    if name != FIRST:
        return Preview(ENTRIES[name].title, ABOUT)
    title = source.TITLES.get(query.get("model", ""), QUESTION)
    named = [f"{each} {query[each]}" for each in ("layer", "head") if query.get(each, "").isdigit()]
    return Preview(" · ".join(filter(None, (title, ", ".join(named)))), ABOUT)


def kind_of(name: str, query: Mapping[str, str]) -> str:
    """The kind of view that a link opens, as far as it tells; "" for none.

    Args:
        name: of the page.
        query: of the link.
    """
    if name != FIRST:
        return ENTRIES[name].kind
    return "image" if source.READS.get(query.get("model", "")) == "image" else "text"
