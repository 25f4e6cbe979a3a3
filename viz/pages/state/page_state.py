"""Page state and its transitions, independent of Streamlit."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class PageState:
    """The state of a page.

    Attributes:
        revision: incremented whenever the app, rather than the user, sets controls. Widget keys
            include it, so a stale event addresses widgets that no longer exist.
        settings: the values of the page's controls.
        selection: initial selection of the view in this revision; None keeps the previous one.
        problems: one message for each invalid part of the link.
    """

    revision: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    selection: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entered:
    """The page was opened again through the menu: its state is unchanged."""


@dataclass(frozen=True)
class Assigned:
    """A link, an example or a preset sets controls, and possibly the selection of the view."""

    settings: Mapping[str, Any]
    selection: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edited:
    """The user changed controls that were drawn in a revision."""

    revision: int
    settings: Mapping[str, Any]


Event = Entered | Assigned | Edited


def reduce(state: PageState, event: Event) -> PageState:
    """The state after an event; edits of earlier revisions are ignored."""
    match event:
        case Entered():
            return replace(state, revision=state.revision + 1, selection=None)
        case Assigned(settings, selection, problems):
            merged = {**state.settings, **settings}
            return PageState(state.revision + 1, merged, selection, problems)
        case Edited(revision, settings):
            merged = {**state.settings, **settings}
            if revision != state.revision or merged == state.settings:
                return state
            return replace(state, settings=merged, problems=())
