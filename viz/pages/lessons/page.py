"""The doors to the lessons; a lesson: its story, the code behind it, and what all lessons share."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from html import escape
from pkgutil import resolve_name
from typing import Any

import streamlit as st
from headscope_views import view

from viz import course, theme
from viz.course import prose, real
from viz.course.reading import Lesson, Step
from viz.pages import shared
from viz.pages.frame import registry
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.pages.widgets import attention
from viz.pages.widgets.sources import source
from viz.values import Kind

SELECTED = frozenset(("story", "figure", "present"))


def selection(lesson: Lesson) -> tuple[link.Param, ...]:
    """What is chosen in a story, in a link."""
    first, step = (lesson.steps[0].name if lesson.steps else ""), lesson.step_named
    return (
        link.Param("story", first, Kind("the name of a step", step)),
        link.text("figure", ""),
        link.choice("present", "no", ("no", "yes")),
    )


def page(name: str | None = None) -> None:
    """Draws a lesson that is a story; without a name, the doors to all lessons."""
    if name is None:
        _doors()
        return
    lesson = course.lesson(name)
    with framed(lesson):
        props = {
            **session.props(name, selection(lesson)),
            **listed(),
            "answer": real.first(name),
            "title": lesson.figure,
            "inputs": {name: each.start for name, each in lesson.inputs.items()},
            "steps": [_step(step, lesson) for step in lesson.steps],
            "theme": themes(),
        }
        del props["link"]  # the settings' part: the lesson's frame sends it
        view("story", props, key=f"{name}_story")
        for each in lesson.pages:
            explore(each["label"], each["page"], **each["query"])
        code(name, *lesson.code)
        takeaways(lesson)


def _doors() -> None:
    problems = link_on_entry.enter(registry.COURSE, ()).problems
    st.markdown("#### How does a transformer work?")
    for problem in problems:
        shared.error_line(problem)
    plans = {
        each.name: {
            term: prose.parts(text)
            for term, text in {**each.plan, "misreading": " ".join(each.misreading)}.items()
        }
        for each in course.COURSE
    }
    view("doors", {**listed(), "plans": plans}, key="course_doors")
    links()
    attention.address(registry.COURSE, ())


def _step(step: Step, lesson: Lesson) -> dict[str, Any]:
    return {
        **vars(step),
        "own": bool(step.computed) and not step.board,
        "computed": f"Computed now, from {step.computed or lesson.computed}.",
        "controls": [lesson.inputs[name].control(name) for name in step.controls],
    }


def themes() -> dict[str, Any]:
    """The colours of figures in each mode."""
    return {mode: _theme(mode) for mode in theme.MODES}


def _theme(mode: theme.Mode) -> dict[str, Any]:
    """The colours of a figure, as `StoryTheme` in types.d.ts defines them."""
    ramps = {"weights": theme.sequential(mode), "signed": theme.diverging(mode)}
    shades = {name: [f"#{bytes(each).hex()}" for each in ramp[::5]] for name, ramp in ramps.items()}
    return {**asdict(theme.COLOURS[mode]), "terms": theme.TERMS[mode], **shades}


@contextmanager
def framed(lesson: Lesson, *params: link.Param) -> Iterator[None]:
    """Rail, glossary and link of a lesson; a ValueError becomes one line.

    Args:
        lesson: to draw.
        params: its settings, where it has any.
    """
    name = lesson.name
    problems = link_on_entry.enter(name, (*params, *selection(lesson)), SELECTED).problems
    st.session_state["lesson/last"] = name
    view("mode", {}, key="lesson_mode")
    with st.container(key=f"lesson_page_{name}", gap="small"):
        view("rail", {"page": name, **listed()}, key="lesson_rail")
        links()
        for problem in problems:
            shared.error_line(problem)
        try:
            yield
        except ValueError as error:
            shared.error_line(error)
        with st.expander("Glossary", key="lesson_glossary"):
            terms = prose.GLOSSARY.items()
            items = "".join(f"<dt>{escape(n)}</dt><dd>{escape(t)}</dd>" for n, t in terms)
            st.html(f'<dl class="lesson-glossary">{items}</dl>')
    attention.address(name, params)


def listed() -> dict[str, Any]:
    """The lessons, for the browser, and which of them are attention in 45 minutes."""
    lessons = [
        {
            "name": each.name,
            "number": number,
            "title": each.title,
            "line": each.line,
            "minutes": each.minutes,
            "steps": [step.name for step in each.steps if not step.deeper],
        }
        for number, each in enumerate(course.COURSE, 1)
    ]
    return {"lessons": lessons, "short": [*course.SHORT]}


def links() -> None:
    """Links to all lessons, which are not shown: the browser's own follow them."""
    with st.container(key="lesson_links"):
        for each in course.COURSE:
            st.page_link(registry.page(each.name), label=each.title)


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
    box = st.expander("The code that ran", key=f"{name}_code", on_change="rerun")
    if not box.open:
        return
    with box:
        for part in parts:
            file, line, lines = source(resolve_name(part))
            st.caption(f"{file}, line {line}")
            st.code(lines, language="python")


def takeaways(lesson: Lesson) -> None:
    """The key points of the lesson, and a common misreading beside the right one."""
    items = "".join(f"<li>{prose.html(point)}</li>" for point in lesson.takeaways)
    st.html(
        f'<div class="lesson-text lesson-takeaways"><h5>To take away</h5><ul>{items}</ul></div>'
    )
    wrong, right = map(prose.html, lesson.misreading)
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
