"""The frame of every lesson, and the building blocks of lessons.

A lesson's page is

    def page() -> None:
        with frame.lesson(NAME, PARAMS):
            …

and calls `text`, `formula`, `stepper`, `show`, `tries`, `code`, `explore` and `takeaways` as
needed, in this order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import streamlit as st

from viz.pages import shared
from viz.pages.frame import registry
from viz.pages.lessons import course, markup, tables
from viz.pages.lessons import story as stories
from viz.pages.lessons.glossary import TERMS
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.pages.widgets import attention, controls

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LARGE = 17  # font size of figures in projector mode
PRINT = link.choice("print", "no", ("no", "yes"))
KEYS = (
    '<p class="lesson-keys">Keys: <kbd>→</kbd> <kbd>←</kbd> step · <kbd>N</kbd> next lesson ·'
    " <kbd>P</kbd> previous lesson · <kbd>M</kbd> into the figure, and back out to the map."
    " Hover over underlined terms for their meaning.</p>"
)


class Try(NamedTuple):
    """A button that sets the controls to an instructive state.

    Attributes:
        label: what to try.
        note: what to observe.
        settings: settings to change; all others take their defaults.
    """

    label: str
    note: str
    settings: Mapping[str, Any]


@contextmanager
def lesson(name: str, params: Iterable[link.Param]) -> Iterator[None]:
    """Header, footer, settings and link of a lesson; a ValueError becomes one line."""
    params = (*params, PRINT)
    problems = link_on_entry.enter(name, (*params, *stories.SELECTION), stories.SELECTED).problems
    st.session_state["lesson/last"] = name
    _listen(name)
    paper = "paper_" if printing(name) else ""
    with st.container(key=f"lesson_page_{paper}{name}", gap="small"):
        _head(name)
        for problem in problems:
            shared.error_line(problem)
        try:
            yield
        except ValueError as error:
            shared.error_line(error)
        _foot(name)
    attention.address(name, params)


def way_back(page: str) -> None:
    """On other pages: a link back to the last lesson, in the state in which it was left."""
    last = st.session_state.get("lesson/last")
    if last is None or page in {each.name for each in course.COURSE}:
        return
    label = f"Back to the lesson “{course.lesson(last).title}”"
    with st.container(key="lesson_return"):
        st.page_link(registry.page(last), label=label, icon=":material/arrow_back:")


def printing(name: str) -> bool:
    """Whether the lesson is in print view: every step, the code open, no controls."""
    return session.get(name, PRINT.name) == "yes"


def story(name: str, told: stories.Story) -> None:
    """The story of a lesson."""
    stories.show(name, told, paper=printing(name))


@contextmanager
def details(name: str, params: Iterable[link.Param]) -> Iterator[None]:
    """Every number and control of a lesson, folded away below its story.

    Open in print view, and once a link or a button has set one of the controls.
    """
    settings, state = session.current(name), st.session_state
    before = state.get(f"lesson/{name}/details")
    opened = before is not None and before[1]
    if before is None or before[0] != settings.revision:
        at_first = ((param.name, param.default) for param in params)
        opened |= any(settings.settings[each] != default for each, default in at_first)
    state[f"lesson/{name}/details"] = settings.revision, opened
    opened |= printing(name)
    label = "Show numbers: every step as a table, with its controls"
    with st.expander(label, expanded=opened, key=f"{name}_numbers_{opened}"):
        yield


def text(*paragraphs: str) -> None:
    """Paragraphs in `markup`."""
    inner = "".join(f"<p>{markup.html(paragraph)}</p>" for paragraph in paragraphs)
    st.html(f'<div class="lesson-text">{inner}</div>')


def heading(title: str) -> None:
    """The heading of a section."""
    st.html(f'<div class="lesson-text"><h5>{markup.html(title)}</h5></div>')


def formula(*latex: str) -> None:
    """Formulas, one per line."""
    for line in latex:
        st.latex(line)


def show(*parts: str) -> None:
    """HTML from `tables`."""
    st.html("".join(parts))


def figure(
    name: str, drawn: "Figure", key: str, alt: str, *, width: int | Literal["stretch"] = "stretch"
) -> None:
    """A Plotly figure; `alt` is its text alternative."""
    from viz.pages.widgets import charts

    if session.app("projector") == "yes":
        drawn.update_layout(font_size=LARGE, title_font_size=LARGE + 3)
    charts.draw(drawn, f"{name}_chart_{key}", alt, width=width)


def shapes(*pairs: tuple[str, str]) -> None:
    """The current tensor shapes."""
    show(tables.facts(*pairs))


def step(titles: Sequence[str]) -> link.Param:
    """The setting for the current step; by default the first one."""
    return link.number("step", 0, 0, len(titles) - 1)


def stepper(name: str, titles: Sequence[str]) -> int:
    """Buttons to go through the steps of the tables; arrow keys belong to the story.

    Returns:
        The number of the current step; all earlier steps are shown as well.
    """
    last = len(titles) - 1
    if printing(name):
        return last
    at = session.get(name, "step")
    with st.container(key=f"lesson_step_{name}", horizontal=True, gap="xsmall"):
        with st.container(key="lesson_back", width="content"):
            st.button(
                "←",
                key="lesson_back_button",
                disabled=at == 0,
                on_click=session.callback(_go),
                args=(name, at - 1),
            )
        with st.container(key="lesson_forward", width="content"):
            label, to = ("→", at + 1) if at < last else ("↺", 0)
            help = "The next step" if at < last else "From the start"
            st.button(
                label,
                key="lesson_forward_button",
                help=help,
                on_click=session.callback(_go),
                args=(name, to),
            )
        for number, title in enumerate(titles):
            key = f"lesson_to_{number}"
            controls.button(f"{number + 1} {title}", key, _go, name, number, chosen=number == at)
    return at


def _go(name: str, to: int) -> None:
    session.edit(name, {"step": to})


def tries(name: str, params: Iterable[link.Param], *buttons: Try, part: str = "") -> None:
    """Buttons that set the controls to instructive states, each with what to observe.

    The last step is shown, unless a button sets another one.

    Args:
        name: of the lesson.
        params: its settings.
        buttons: what to try.
        part: distinguishes the buttons of several sections.
    """
    if printing(name):
        return
    heading("Try this")
    usual = usual_of(params)
    with st.container(key=f"lesson_tries_{name}{part}", gap="xsmall"):
        for number, each in enumerate(buttons):
            st.button(
                f"**{shared.plain(each.label)}** {shared.plain(each.note)}",
                key=f"{name}_try{part}_{number}",
                type="tertiary",
                icon=":material/play_arrow:",
                wrap=True,
                on_click=session.callback(_try),
                args=(name, usual, each.settings),
            )


def usual_of(params: Iterable[link.Param]) -> dict[str, Any]:
    """What a button to try sets a lesson to before its own settings: the defaults, all steps."""
    return {param.name: param.high if param.name == "step" else param.default for param in params}


def _try(name: str, usual: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Sets the controls, and scrolls the first of them into view."""
    session.assign(name, {**usual, **settings})
    st.session_state["lesson/tried"] = name, session.current(name).revision, [*settings]


def code(name: str, *functions: Callable[..., Any]) -> None:
    """The source code behind the lesson; loaded when the expander is opened."""
    from viz.pages.widgets.sources import source

    opened = printing(name)
    key = f"{name}_code_{opened}"
    box = st.expander("The code that ran", expanded=opened, key=key, on_change="rerun")
    if not (box.open or opened):
        return
    with box:
        for function in functions:
            file, line, lines = source(function)
            st.caption(f"{file}, line {line}")
            st.code(lines, language="python")


def takeaways(*points: str) -> None:
    """The key points of the lesson."""
    items = "".join(f"<li>{markup.html(point)}</li>" for point in points)
    st.html(
        f'<div class="lesson-text lesson-takeaways"><h5>To take away</h5><ul>{items}</ul></div>'
    )


def explore(label: str, page: str = "text", **query: Any) -> None:
    """A link to another page with the same state; that page then has a link back."""
    st.page_link(
        registry.page(page),
        label=label,
        icon=":material/open_in_new:",
        query_params={key: str(value) for key, value in query.items()},
    )


def _listen(name: str) -> None:
    """Mounts the browser side: keyboard shortcuts, scrolling to changed controls, mode changes."""
    from headscope_views import view

    lesson, revision, settings = st.session_state.get("lesson/tried", ("", 0, []))
    now = session.current(name).revision
    show = settings if (lesson, revision) == (name, now) else []
    view("keys", {"page": name, "revision": now, "show": show}, key="lesson_keys")
    view("mode", {}, key="lesson_mode")


def _head(name: str) -> None:
    here = course.lesson(name)
    with st.container(key="lesson_top", horizontal=True, gap="medium"):
        with st.container(key="lesson_title", gap="xsmall"):
            number = course.number(name)
            st.markdown(f"#### {number} · {here.title}")
            line = f"Lesson {number} of {len(course.COURSE)} · {here.line}"
            st.html(f'<div class="lesson-head"><small>{escape(line)}</small></div>')
            _navigation(name)
        with st.container(key="lesson_map", width="content"):
            course_map(name, key="lesson_map_view")


def course_map(name: str, *, key: str) -> None:
    """The transformer as a map of the course, and the links by which its parts lead to lessons.

    Args:
        name: of the lesson whose parts are lit; "" for the map with a list of all lessons.
        key: of the view.
    """
    from headscope_views import view

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
