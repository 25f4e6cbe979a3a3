"""What every lesson has round its own content.

A lesson's page is

    @st.fragment
    def page() -> None:
        with frame.lesson(NAME, PARAMS):
            …

    frame.arrive(NAME)
    page()

and inside it calls what it needs of `text`, `formula`, `stepper`, `show`, `tries`, `code`,
`explore` and `took`, in this order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import streamlit as st

from viz.pages import settings, shared
from viz.pages.lessons import course, edge, look, prose, tables
from viz.pages.lessons.edge import printing
from viz.pages.state import params as link

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LARGE = 17  # type of a figure in projector mode


class Try(NamedTuple):
    """A link that sets the controls: what to click, what to look at, and what is set."""

    label: str
    look: str
    settings: Mapping[str, Any]


def arrive(name: str) -> None:
    """To be called where the page begins: a link that is followed is never an old address."""
    st.session_state.pop(f"{name}_replaced", None)
    st.session_state["lesson_arrived"] = True


@contextmanager
def lesson(name: str, params: Iterable[link.Param]) -> Iterator[None]:
    """The head and the foot of a lesson, its settings, and the line that tells of a mistake."""
    params = (*params, edge.PRINT)
    problems = settings.from_link(name, params)
    look.style(printing=printing(name))
    edge.listen()
    with st.container(key=f"lesson_page_{name}", gap="small"):
        edge.head(name)
        for problem in problems:
            shared.error_line(problem)
        try:
            yield
        except ValueError as error:
            shared.error_line(error)
        edge.foot(name)
        settings.tell(name)
    settings.to_link(name, params)
    if st.session_state.pop("lesson_arrived", False):
        # a link to the page one is on changes the settings, but not the address
        st.query_params.from_dict(st.session_state[f"{name}_link"])
    st.session_state["lesson_last"] = name


def text(*paragraphs: str) -> None:
    """Paragraphs in the marks of `prose`."""
    st.html(
        f'<div class="lesson-text">{"".join(f"<p>{prose.html(p)}</p>" for p in paragraphs)}</div>'
    )


def heading(title: str) -> None:
    """The title of a part of the lesson."""
    st.html(f'<div class="lesson-text"><h5>{prose.html(title)}</h5></div>')


def formula(*latex: str) -> None:
    """Formulas, each in a line of its own."""
    for line in latex:
        st.latex(line)


def show(*parts: str) -> None:
    """What `tables` made."""
    st.html("".join(parts))


def figure(
    name: str, drawn: "Figure", key: str, alt: str, *, width: int | Literal["stretch"] = "stretch"
) -> None:
    """A Plotly figure in the colours of the mode; `alt` says it to who cannot see it."""
    mode = st.context.theme.type or "light"
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
    if st.session_state.get("projector"):
        drawn.update_layout(font_size=LARGE, title_font_size=LARGE + 3)
    # a chart that exists would keep the colours of the other mode
    place = f"{name}_chart_{key}_{mode}"
    st.plotly_chart(drawn, key=place, config=config, alt=alt, width=width)


def shapes(*pairs: tuple[str, str]) -> None:
    """The shapes of what is on the screen, as they are now."""
    show(tables.facts(*pairs))


def step(titles: Sequence[str]) -> link.Param:
    """The setting that says how far the steps have come; at first all are shown."""
    return link.number("step", len(titles) - 1, 0, len(titles) - 1)


def stepper(name: str, titles: Sequence[str]) -> int:
    """Buttons that go through the steps, also by the arrow keys.

    Returns:
        The number of the step to show, and all before it.
    """
    last, key = len(titles) - 1, f"{name}_step"
    if printing(name):
        return last

    def go(to: int) -> None:
        settings.say(name, {"step": to})

    at = st.session_state[key]
    with st.container(key=f"lesson_step_{name}", horizontal=True, gap="small"):
        with st.container(key="lesson_back", width="content"):
            st.button("←", key="lesson_back_button", disabled=at == 0, on_click=go, args=(at - 1,))
        with st.container(key="lesson_forward", width="content"):
            label, to = ("→", at + 1) if at < last else ("↺", 0)
            told = "The next step" if at < last else "From the start"
            st.button(label, key="lesson_forward_button", help=told, on_click=go, args=(to,))
        st.segmented_control(
            "Step",
            range(last + 1),
            format_func=lambda number: f"{number + 1} {titles[number]}",
            key=key,
            required=True,
            persist_state="session",
            label_visibility="collapsed",
        )
    return st.session_state[key]


def tries(name: str, *links: Try, part: str = "") -> None:
    """Links that set the controls to a telling state, and what to look at there.

    A lesson of several parts has links in each, below the picture that they change; `part` is a
    word that tells them apart.
    """
    if printing(name):
        return
    heading("Try this")
    with st.container(key=f"lesson_tries_{name}{part}", gap="xsmall"):
        for each in links:
            st.page_link(
                course.lesson(name).script,
                label=f"**{shared.plain(each.label)}** {shared.plain(each.look)}",
                icon=":material/play_arrow:",
                query_params={key: str(value) for key, value in each.settings.items()},
            )


def code(name: str, *functions: Callable[..., Any]) -> None:
    """The lines of the project that worked out what is shown; only loaded for readers."""
    from viz.pages.widgets.sources import source

    key = f"{name}_code"
    opened = printing(name)
    box = st.expander(
        "The lines that ran", expanded=opened, key=f"{key}_{opened}", on_change="rerun"
    )
    if not (box.open or opened):
        return
    with box:
        for function in functions:
            file, line, lines = source(function)
            st.caption(f"{file}, line {line}")
            st.code(lines, language="python")


def took(*points: str) -> None:
    """What to take away."""
    items = "".join(f"<li>{prose.html(point)}</li>" for point in points)
    st.html(f'<div class="lesson-text lesson-took"><h5>To take away</h5><ul>{items}</ul></div>')


def explore(label: str, page: str = "explore/text", **query: Any) -> None:
    """A link to another page with the same state; that page then has a link back."""
    st.page_link(
        f"viz/pages/{page}.py",
        label=label,
        icon=":material/open_in_new:",
        query_params={key: str(value) for key, value in query.items()},
    )
