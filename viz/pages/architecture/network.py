"""The network that the Architecture page's controls stand for."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from models.presets import PRESETS
from viz.pages.architecture import presets
from viz.pages.architecture.fields import FIELDS, fields, meaning
from viz.pages.architecture.presets import PAGE
from viz.pages.state import session

Values = dict[str, int | str]


def chosen() -> str:
    """The preset that the page shows, perhaps with changes."""
    return session.get(PAGE, "preset")


def values() -> Values:
    """The values of the preset's controls."""
    settings = session.current(PAGE).settings
    return {field.name: settings[field.name] for field in fields(PRESETS[chosen()].kind)}


def changed() -> bool:
    """Whether the controls say anything else than the preset."""
    return values() != presets.values(chosen())


def title() -> str:
    """The name of the preset for readers; where it was changed, what it began as."""
    return PRESETS[chosen()].title + (", changed" if changed() else "")


def sizes(values: Mapping[str, int | str]) -> tuple[int, int]:
    """How many tokens go in, and into the decoder of two towers."""
    return int(values.get("tokens", 1)), int(values.get("target", 1))


def config(name: str, values: Mapping[str, int | str]) -> Any:
    """The config that values of the controls stand for; the preset gives the rest.

    Raises:
        ValueError: where they do not fit together, or the input does not fit the network.
    """
    from models.cost.count import check_input
    from models.presets import config_of

    preset = PRESETS[name]
    settings = dict(preset.fields) | {
        field.of or field.name: meaning(field, values[field.name]) for field in FIELDS[preset.kind]
    }
    if settings.get("neurons"):
        settings["classes"] = None
    made = config_of(preset.kind, settings)
    check_input(made, *sizes(values))
    return made


def possible() -> tuple[Any, tuple[int, int], ValueError | None]:
    """The last possible network, its input's sizes, and why that of now is impossible, if it is."""
    state, name, now = st.session_state, chosen(), values()
    try:
        made = config(name, now)
    except ValueError as error:
        kept, last = state.get(f"{PAGE}/possible", ("", {}))
        last = last if kept == name else presets.values(name)
        return config(name, last), sizes(last), error
    state[f"{PAGE}/possible"] = name, now
    return made, sizes(now), None
