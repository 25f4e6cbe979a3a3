"""The settings of page Build: a preset, what was changed of it, and the network that they make.

Does not import torch: the controls are drawn before it is loaded.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from models.presets import PRESETS, config_of
from viz.api.samples import PHOTOS
from viz.pages.build.fields import FIELDS, Value, meaning, value_of
from viz.pages.state import params as link
from viz.pages.state import session

PAGE = "build"
FIRST = "small"
SENTENCE = "The animal didn't cross the street because it was too tired."
ANSWER = "Das Tier überquerte die Straße nicht, weil es zu müde war."
OPEN = "open"  # the cards that are open, which the picture holds
PRESET = link.choice("preset", FIRST, PRESETS)

Values = dict[str, Value]


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; their defaults depend on its preset."""
    return params(link.value(PRESET, query))


def params(name: str) -> tuple[link.Param, ...]:
    """Those of a preset: only deviations from it are in the link."""
    first = values(name)
    return (
        PRESET,
        *(field.param(first[field.name]) for field in FIELDS[PRESETS[name].kind]),
        link.choice("run", "no", ("no", "yes")),
        link.text("text", SENTENCE),
        link.text("answer", ANSWER),
        link.choice("photo", "flower", PHOTOS),
        link.text(OPEN, ""),
    )


def values(name: str) -> Values:
    """The values of the controls for a preset."""
    preset = PRESETS[name]
    return {field.name: value_of(field, preset.fields) for field in FIELDS[preset.kind]}


def chosen() -> str:
    """The current preset, possibly with changes."""
    return session.get(PAGE, "preset")


def current() -> Values:
    """The values of the preset's controls."""
    settings = session.current(PAGE).settings
    return {field.name: settings[field.name] for field in FIELDS[PRESETS[chosen()].kind]}


def changed() -> bool:
    """Whether the controls differ from the preset."""
    return current() != values(chosen())


def config(name: str, values: Mapping[str, Value]) -> Any:
    """The config for values of the controls; the preset supplies the rest.

    Raises:
        ValueError: if they are inconsistent.
    """
    preset = PRESETS[name]
    settings = dict(preset.fields) | {
        field.of or field.name: meaning(field, values[field.name]) for field in FIELDS[preset.kind]
    }
    if settings.get("neurons"):  # the controls hold the widths of the hidden layers
        classes = settings["classes"]
        settings |= {"neurons": (*settings["neurons"], classes) if classes else ()}
        settings |= {"classes": None if classes else classes}
    return config_of(preset.kind, settings)


def possible() -> tuple[Any, ValueError | None]:
    """The last network that can be, and why that of now cannot, if so."""
    state, name, now = st.session_state, chosen(), current()
    try:
        built = config(name, now)
    except ValueError as error:
        kept, last = state.get(f"{PAGE}/possible", ("", {}))
        return config(name, last if kept == name else values(name)), error
    state[f"{PAGE}/possible"] = name, now
    return built, None
