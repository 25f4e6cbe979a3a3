"""A page's state and what changes it, without Streamlit."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class PageState:
    """What a page shows.

    Attributes:
        revision: counts the times that the app, rather than the user, set the controls. The keys
            of widgets carry it: an event sent before a change addresses widgets that are gone.
        settings: the values of the page's controls.
        selection: what the view selects at the start of this revision; None leaves it where it was.
        problems: one line for each part of the link that made no sense.
    """

    revision: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    selection: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entered:
    """The page was opened again through the menu: everything is as it was."""


@dataclass(frozen=True)
class Assigned:
    """A link, an example or a preset sets controls, and may choose what the view selects."""

    settings: Mapping[str, Any]
    selection: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edited:
    """The user moved controls that were drawn in a revision."""

    revision: int
    settings: Mapping[str, Any]


Event = Entered | Assigned | Edited


def reduce(state: PageState, event: Event) -> PageState:
    """The state after an event; an edit of an earlier revision changes nothing."""
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
