"""A lesson: its story, the code behind it, its key points, and the frame that all lessons share."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

import streamlit as st
from headscope_views import view

from viz import course
from viz.course import prose
from viz.course.glossary import TERMS
from viz.course.reading import Lesson
from viz.pages import shared
from viz.pages.frame import registry
from viz.pages.lessons import story
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.pages.widgets import attention
from viz.pages.widgets.sources import source

PRINT = link.choice("print", "no", ("no", "yes"))
KEYS = (
    '<p class="lesson-keys">Keys: <kbd>→</kbd> <kbd>←</kbd> step · <kbd>N</kbd> next lesson ·'
    " <kbd>P</kbd> previous lesson."
    " Hover over underlined terms for their meaning.</p>"
)


def page(name: str) -> None:
    """Draws a lesson that is a story."""
    lesson = course.lesson(name)
    with framed(lesson):
        story.show(lesson, paper=printing(name))
        for each in lesson.pages:
            explore(each.label, each.page, **each.query)
        code(name, *lesson.code)
        takeaways(lesson)


@contextmanager
def framed(lesson: Lesson, *params: link.Param) -> Iterator[None]:
    """Header, footer and link of a lesson; a ValueError becomes one line.

    Args:
        lesson: to draw.
        params: its settings, where it has any.
    """
    name, params = lesson.name, (*params, PRINT)
    problems = link_on_entry.enter(
        name, lambda query: (*params, *story.SELECTION, *_older(lesson, query)), story.SELECTED
    ).problems
    st.session_state["lesson/last"] = name
    _listen()
    paper = "paper_" if printing(name) else ""
    with st.container(key=f"lesson_page_{paper}{name}", gap="small"):
        _head(lesson)
        for problem in problems:
            shared.error_line(problem)
        try:
            yield
        except ValueError as error:
            shared.error_line(error)
        _foot(name)
    attention.address(name, params)


def printing(name: str) -> bool:
    """Whether the lesson is in print view: every step, the code open, no controls."""
    return session.get(name, PRINT.name) == "yes"


def text(*paragraphs: str) -> None:
    """Paragraphs in the markup of `prose`."""
    inner = "".join(f"<p>{prose.html(paragraph)}</p>" for paragraph in paragraphs)
    st.html(f'<div class="lesson-text">{inner}</div>')


def heading(title: str) -> None:
    """The heading of a section."""
    st.html(f'<div class="lesson-text"><h5>{prose.html(title)}</h5></div>')


def code(name: str, *parts: str) -> None:
    """The source code behind the lesson; loaded when the expander is opened.

    Args:
        name: of the lesson.
        parts: dotted names of functions and classes.
    """
    opened = printing(name)
    key = f"{name}_code_{opened}"
    box = st.expander("The code that ran", expanded=opened, key=key, on_change="rerun")
    if not (box.open or opened):
        return
    with box:
        for part in parts:
            file, line, lines = source(_imported(part))
            st.caption(f"{file}, line {line}")
            st.code(lines, language="python")


def _imported(part: str) -> Any:
    """A function, class or method by its dotted name."""
    module, _, name = part.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError:
        return getattr(_imported(module), name)


def takeaways(lesson: Lesson) -> None:
    """The key points of the lesson, and a common misreading beside the right one."""
    items = "".join(f"<li>{prose.html(point)}</li>" for point in lesson.takeaways)
    st.html(
        f'<div class="lesson-text lesson-takeaways"><h5>To take away</h5><ul>{items}</ul></div>'
    )
    wrong, right = map(prose.html, (lesson.misreading.wrong, lesson.misreading.right))
    st.html(
        '<div class="lesson-text lesson-misreading"><h5>A common misreading</h5>'
        f'<p class="wrong">{wrong}</p><p class="right">{right}</p></div>'
    )
    if lesson.exercise:
        text(
            f"**Write it yourself:** `notebooks/exercises/{lesson.exercise}.ipynb` checks your code"
            " and names common mistakes. `make notebook` opens it."
        )


def explore(label: str, page: str = "explore", **query: Any) -> None:
    """A link to another page with the same state; that page then has a link back."""
    st.page_link(
        registry.page(page),
        label=label,
        icon=":material/open_in_new:",
        query_params={key: str(value) for key, value in query.items()},
    )


def _older(lesson: Lesson, query: Any) -> tuple[link.Param, ...]:
    """The settings in a link to a story that older versions of the lesson had."""
    if not lesson.steps:
        return ()
    known = {PRINT.name, *story.SELECTED, *session.APP_NAMES, *link.GONE}
    return tuple(link.retired(name) for name in query if name not in known)


def _listen() -> None:
    """Mounts the browser side: keyboard shortcuts and mode changes."""
    view("keys", {}, key="lesson_keys")
    view("mode", {}, key="lesson_mode")


def _head(lesson: Lesson) -> None:
    with st.container(key="lesson_top", horizontal=True, gap="medium"):
        with st.container(key="lesson_title", gap="xsmall"):
            number = course.number(lesson.name)
            st.markdown(f"#### {number} · {lesson.title}")
            line = f"Lesson {number} of {len(course.COURSE)} · {lesson.line}"
            st.html(f'<div class="lesson-head"><small>{escape(line)}</small></div>')
            _navigation(lesson.name)
        with st.container(key="lesson_map", width="content"):
            course_map(lesson.name, key="lesson_map_view")


def course_map(name: str, *, key: str) -> None:
    """The transformer as a map of the course, and the links by which its parts lead to lessons.

    Args:
        name: of the lesson whose parts are lit; "" for the map with a list of all lessons.
        key: of the view.
    """
    lessons = [
        {
            "name": each.name,
            "number": number,
            "title": each.title,
            "line": each.line,
            "minutes": each.minutes,
            "parts": [*each.parts],
            "needs": [course.number(need) for need in each.needs],
        }
        for number, each in enumerate(course.COURSE, 1)
    ]
    width = "content" if name else "stretch"
    view("map", {"page": name, "lessons": lessons}, key=key, width=width)
    with st.container(key="lesson_links"):  # not shown: the map follows them
        for each in course.COURSE:
            st.page_link(registry.page(each.name), label=each.title)


def _navigation(name: str) -> None:
    with st.container(key="lesson_nav", horizontal=True, gap="small", vertical_alignment="center"):
        _neighbours(name, "")
        st.space("stretch")
        with st.container(key="lesson_views", horizontal=True, width="content"):
            st.button(
                "Projector",
                key="lesson_large",
                on_click=session.callback(_enlarge),
                type="tertiary",
            )
            title = "Back to the screen" if printing(name) else "Print view"
            st.button(
                title,
                key="lesson_print",
                on_click=session.callback(_print),
                args=(name,),
                type="tertiary",
            )


def _enlarge() -> None:
    session.assign(session.APP, {"projector": "no" if session.app("projector") == "yes" else "yes"})


def _print(name: str) -> None:
    session.edit(name, {PRINT.name: "no" if printing(name) else "yes"})


def _neighbours(name: str, where: str) -> None:
    before, after = course.neighbours(name)
    if before is not None:
        page, icon = registry.page(before.name), ":material/arrow_back:"
        with st.container(key=f"lesson{where}_previous", width="content"):
            st.page_link(page, label=before.title, icon=icon)
    if after is not None:
        page, icon = registry.page(after.name), ":material/arrow_forward:"
        with st.container(key=f"lesson{where}_next", width="content"):
            st.page_link(page, label=after.title, icon=icon, icon_position="right")


def _foot(name: str) -> None:
    if not printing(name):
        with st.container(key="lesson_foot", horizontal=True, gap="medium"):
            _neighbours(name, "_foot")
    with st.expander("Glossary", key="lesson_glossary"):
        items = "".join(f"<dt>{escape(n)}</dt><dd>{escape(t)}</dd>" for n, t in TERMS.items())
        st.html(f'<dl class="lesson-glossary">{items}</dl>{KEYS}')
    if not printing(name):
        st.html(KEYS)
