"""The settings of page Build: a preset, what was changed of it, and the network that they make.

Does not import torch: the controls are drawn before it is loaded.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from models.presets import PRESETS, config_of
from viz.api.samples import PHOTOS
from viz.pages.build import networks
from viz.pages.state import params as link
from viz.pages.state import session

PAGE = "build"
SENTENCE = "The animal didn't cross the street because it was too tired."
ANSWER = "Das Tier überquerte die Straße nicht, weil es zu müde war."
OPEN = "open"  # the cards that are open, which the picture holds

Values = dict[str, Any]


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; their defaults depend on its preset."""
    return params(link.value(networks.PRESET, query))


def params(name: str) -> tuple[link.Param, ...]:
    """Those of a preset, and of its input."""
    return (
        *networks.params(name),
        link.choice("run", "no", ("no", "yes")),
        link.text("text", SENTENCE),
        link.text("answer", ANSWER),
        link.choice("photo", "flower", PHOTOS),
        link.text(OPEN, ""),
    )


def chosen() -> str:
    """The current preset, possibly with changes."""
    return session.get(PAGE, "preset")


def current() -> Values:
    """The values of the preset's controls."""
    settings = session.current(PAGE).settings
    return {name: settings[name] for name in networks.values(chosen())}


def changed() -> bool:
    """Whether the controls differ from the preset."""
    return current() != networks.values(chosen())


def possible() -> tuple[dict[str, Any], ValueError | None]:
    """The fields of the last network that can be, and why that of now cannot, if so."""
    state, name = st.session_state, chosen()
    try:
        fields = networks.fields_of(name, current())
        config_of(PRESETS[name].kind, fields)
    except ValueError as error:
        kept, last = state.get(f"{PAGE}/possible", ("", {}))
        return last if kept == name else networks.fields_of(name, networks.values(name)), error
    state[f"{PAGE}/possible"] = name, fields
    return fields, None
