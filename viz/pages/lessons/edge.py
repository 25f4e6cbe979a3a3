"""What stands above and below every lesson: where one is in the course, and ways out of it."""

from html import escape

import streamlit as st

from viz.pages.lessons import course
from viz.pages.lessons.terms import TERMS
from viz.pages.state import params as link

PRINT = link.choice("print", "no", ("no", "yes"))
KEYS = (
    '<p class="lesson-keys">Keys: <kbd>→</kbd> <kbd>←</kbd> step · <kbd>N</kbd> next lesson ·'
    " <kbd>P</kbd> previous lesson. Underlined words explain themselves under the pointer.</p>"
)


def printing(name: str) -> bool:
    """Whether the lesson is shown for paper: every step, the code open, nothing to click."""
    return st.session_state.get(f"{name}_print") == "yes"


def way_back(address: str) -> None:
    """On a page that is no lesson: a link to the lesson that was read last, as it was."""
    last = st.session_state.get("lesson_last")
    if last is None or address in {each.name for each in course.COURSE}:
        return
    st.page_link(
        course.lesson(last).script,
        label=f"Back to the lesson “{course.lesson(last).title}”",
        icon=":material/arrow_back:",
        query_params=st.session_state.get(f"{last}_link"),
    )


def head(name: str) -> None:
    known, here = course.COURSE, course.lesson(name)
    seen = st.session_state.setdefault("lessons_seen", [])
    if name not in seen:
        seen.append(name)
    number = known.index(here) + 1
    st.markdown(f"#### {number} · {here.title}")
    bars = "".join(
        f'<i class="{"here" if each == here else "seen" if each.name in seen else ""}"></i>'
        for each in known
    )
    told = f"Lesson {number} of {len(known)} · {len(seen)} opened · {here.line}"
    st.html(
        f'<div class="lesson-bar" aria-hidden="true">{bars}</div>'
        f'<div class="lesson-head"><small>{escape(told)}</small></div>'
    )
    with st.container(key="lesson_nav", horizontal=True, gap="small", vertical_alignment="center"):
        _neighbours(name, "")
        st.space("stretch")
        with st.container(key="lesson_views", horizontal=True, width="content"):
            if st.button("Projector", key="lesson_large", on_click=_enlarge, type="tertiary"):
                st.rerun()  # the whole page: type is set outside of the lesson
            title = "Back to the screen" if printing(name) else "Print view"
            st.button(title, key="lesson_print", on_click=_turn, args=(name,), type="tertiary")


def _enlarge() -> None:
    st.session_state["projector"] = not st.session_state.get("projector")


def _turn(name: str) -> None:
    st.session_state[f"{name}_print"] = "no" if printing(name) else "yes"


def _neighbours(name: str, where: str) -> None:
    before, after = course.neighbours(name)
    if before is not None:
        with st.container(key=f"lesson{where}_previous", width="content"):
            st.page_link(before.script, label=before.title, icon=":material/arrow_back:")
    if after is not None:
        with st.container(key=f"lesson{where}_next", width="content"):
            icon = ":material/arrow_forward:"
            st.page_link(after.script, label=after.title, icon=icon, icon_position="right")


def foot(name: str) -> None:
    if not printing(name):
        with st.container(key="lesson_foot", horizontal=True, gap="medium"):
            _neighbours(name, "_foot")
    with st.expander("Glossary", key="lesson_glossary"):
        items = "".join(f"<dt>{escape(n)}</dt><dd>{escape(t)}</dd>" for n, t in TERMS.items())
        st.html(f'<dl class="lesson-glossary">{items}</dl>{KEYS}')
    if not printing(name):
        st.html(KEYS)


def listen() -> None:
    from headscope_views import keys, mode

    keys(key="lesson_keys")
    mode(st.context.theme.type or "light", key="lesson_mode")
