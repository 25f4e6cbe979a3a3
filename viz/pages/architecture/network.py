"""The network described by the Architecture page's controls."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from models.presets import PRESETS, config_of
from viz.pages import compute
from viz.pages.architecture import presets
from viz.pages.architecture.fields import FIELDS, Value, fields, meaning
from viz.pages.architecture.presets import PAGE
from viz.pages.state import session

Values = dict[str, Value]


def chosen() -> str:
    """The current preset, possibly with changes."""
    return session.get(PAGE, "preset")


def values() -> Values:
    """The values of the preset's controls."""
    settings = session.current(PAGE).settings
    return {field.name: settings[field.name] for field in fields(PRESETS[chosen()].kind)}


def changed() -> bool:
    """Whether the controls differ from the preset."""
    return values() != presets.values(chosen())


def title() -> str:
    """The display name of the preset, marked as changed where it is."""
    return PRESETS[chosen()].title + (", changed" if changed() else "")


def sizes(values: Mapping[str, Value]) -> tuple[int, int]:
    """The number of input tokens, and of target tokens."""
    return int(values.get("tokens", 1)), int(values.get("target", 1))


def config(name: str, values: Mapping[str, Value]) -> Any:
    """The config for values of the controls; the preset supplies the rest.

    Raises:
        ValueError: if they are inconsistent, or the input does not fit the network.
    """
    preset = PRESETS[name]
    settings = dict(preset.fields) | {
        field.of or field.name: meaning(field, values[field.name]) for field in FIELDS[preset.kind]
    }
    if settings.get("neurons"):  # the controls hold the widths of the hidden layers
        classes = settings["classes"]
        settings |= {"neurons": (*settings["neurons"], classes) if classes else ()}
        settings |= {"classes": None if classes else classes}
    built = config_of(preset.kind, settings)
    compute.check_input(built, *sizes(values))
    return built


def possible() -> tuple[Any, tuple[int, int], ValueError | None]:
    """The last valid network, its input sizes, and the error of the current one, if any."""
    state, name, now = st.session_state, chosen(), values()
    try:
        built = config(name, now)
    except ValueError as error:
        kept, last = state.get(f"{PAGE}/possible", ("", {}))
        last = last if kept == name else presets.values(name)
        return config(name, last), sizes(last), error
    state[f"{PAGE}/possible"] = name, now
    return built, sizes(now), None
