"""What a link says, read when a page is entered.

Nothing else in Python reads the link: from then on the browser writes it, from the page's state.
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from viz.pages.state import attachments, session
from viz.pages.state import params as link
from viz.pages.state.selected import SELECTED
from viz.pages.state.session import APP, APP_PARAMS, PageState, Params

ParamsOf = Callable[[Mapping[str, str]], Params]
GONE = (
    "This link refers to a text that is too long for a link: paste the text to see the same picture"
)


def enter(
    page: str,
    params: Params | ParamsOf,
    selected: frozenset[str] = SELECTED,
    renewed: Callable[[Mapping[str, str]], dict[str, str]] = dict,
) -> PageState:
    """The page's state in this run; must be called once, before the page is drawn.

    Args:
        page: name of the page, the prefix of its widget keys.
        params: its settings and its view's selection; or a function that returns them for a link.
        selected: names of the parameters that the page's view holds; all others are settings.
        renewed: turns the parameters of older links into those of now.
    """
    enter_app(page)
    before = st.session_state.get("state/page")
    st.session_state["state/page"] = page
    if before is not None:
        session.fold(before)  # changes made just before leaving arrive together with the new page
    if before == page:
        return session.current(page)
    read = params if callable(params) else lambda query: params
    query = renewed(st.query_params.to_dict())
    link_params = tuple(read(query))
    if _is_of_another_page(page, link_params, query):
        query = {}
        link_params = tuple(read(query))
    if query or not session.is_known(page):
        session.begin(page, *_linked(link_params, query, selected))
    else:
        session.begin(page, {})
    return session.current(page)


def enter_app(page: str) -> None:
    """Takes the app-wide settings from a link; absent ones are unchanged.

    `enter` calls it; code that draws such a setting above the page must call it first.
    """
    session.catch_up()
    session.fold(APP)
    if session.is_on(page):
        return
    query = {p.name: st.query_params[p.name] for p in APP_PARAMS if p.name in st.query_params}
    values, _ = link.read(APP_PARAMS, query)
    present = session.current(APP).settings
    values = {name: value for name, value in values.items() if name in query or name not in present}
    if any(present.get(name) != value for name, value in values.items()):
        session.begin(APP, values)


def _is_of_another_page(
    page: str, params: tuple[link.Param, ...], query: Mapping[str, str]
) -> bool:
    """Whether a query has a setting that this page lacks and another page of this session has.

    If Back is pressed while another page loads, Streamlit can hand that page the query of an older
    one.
    """
    names: dict[str, set[str]] = st.session_state.setdefault("state/names", {})
    ours = names.setdefault(page, set())
    ours.update(param.name for param in (*params, *APP_PARAMS))
    others = set().union(*names.values()) - ours
    return any(name.removesuffix(link.HASH) in others for name in query)


def _linked(
    params: tuple[link.Param, ...], query: Mapping[str, str], selected: frozenset[str]
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Settings, selection and problems of a link; long texts are looked up by their digest."""
    values, problems = link.read((*params, *APP_PARAMS), query)
    values = {name: values[name] for name in (param.name for param in params)}
    for name, digest in link.wanted(params, query).items():
        text = attachments.text(digest)
        if text is not None:
            values[name] = text
        else:
            problems.append(f"{GONE} (SHA-256 {digest[:12]}…).")
    selection = {name: values.pop(name) for name in [*values] if name in selected}
    return values, selection, problems
