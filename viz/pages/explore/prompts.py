"""A list of prompts, one a line of the text: one at a time, or the mean of their weights."""

import streamlit as st

from models.text import clean
from viz.pages import shared
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

ONE, EACH, MEAN = "one", "each", "mean"
MOST = 100  # prompts
PARAMS = (
    link.choice("prompts", ONE, (ONE, EACH, MEAN)),
    link.number("prompt", 1, 1, MOST),
)
HELP = (
    "Several lines are one text, or a prompt each, shown one at a time. The mean is that of the"
    " weights of each head, over prompts with the same number of tokens"
)


def choose() -> None:
    """Draws the controls; nothing for a text of one line."""
    count = len(listed())
    if count < 2:
        return
    titles = {ONE: "This text", EACH: f"{count} prompts", MEAN: "Their mean"}
    controls.choice(PAGE, "prompts", "Prompts", titles, HELP, collapsed=True)
    if is_list() and not is_mean():
        _steps()
    if is_list() and len(_all()) > MOST:
        shared.notice(f"{len(_all()):,} prompts: only the first {MOST} are listed.")


def _steps() -> None:
    """Steps from one prompt to the next, around the ends."""
    key = f"{PAGE}_prompt"
    with st.container(
        key=key, horizontal=True, vertical_alignment="center", gap="xsmall", width="content"
    ):
        controls.button("‹", f"{PAGE}_prompt_before", _go, -1, help="The prompt before")
        st.markdown(f"{place() + 1} of {len(listed())}", width="content")
        controls.button("›", f"{PAGE}_prompt_after", _go, 1, help="The next prompt")


def _go(step: int) -> None:
    session.fold(PAGE)
    session.edit(PAGE, {"prompt": (place() + step) % max(len(listed()), 1) + 1})


def place() -> int:
    """Index of the prompt that is shown."""
    return min(session.get(PAGE, "prompt"), max(len(listed()), 1)) - 1


def is_list() -> bool:
    """Whether the text is a list of prompts."""
    return session.get(PAGE, "prompts") != ONE and len(listed()) > 1


def is_mean() -> bool:
    """Whether the mean over the list is shown."""
    return session.get(PAGE, "prompts") == MEAN and is_list()


def chosen() -> str:
    """The text that is shown: the whole input, or one prompt of the list."""
    return listed()[place()] if is_list() else session.get(PAGE, "input")


def listed() -> list[str]:
    """The prompts of the input, at most `MOST`."""
    return _all()[:MOST]


def _all() -> list[str]:
    lines = clean(session.get(PAGE, "input"))[0].splitlines()
    return [each for each in map(str.strip, lines) if each]
