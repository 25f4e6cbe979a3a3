"""Whether a network built here fits together, and a ViT into this machine's memory."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from models.presets import config_of
from models.request import Source
from viz.architecture import short
from viz.pages import shared
from viz.pages.explore import compute, sizes
from viz.pages.explore.names import PAGE
from viz.pages.state import session
from viz.pages.widgets import controls

SHARE = 0.8  # of the free memory; the rest is left to other processes
LABELS = {"size": "Image size", "patch": "Patch", "heads": "Heads", "dim": "Dim", "depth": "Depth"}


def allowed(source: Source) -> bool:
    """Whether the page's model may run now; if not, shows why, and changes that mend it."""
    if source.place != "built":
        return True
    model, now = sizes.MODELS[source.name], session.current(PAGE).settings
    problem = problem_of(model, now)
    if not problem:
        return True
    shared.error_line(problem)
    with st.container(key=f"{PAGE}_fixes", horizontal=True, gap="small"):
        for number, (name, value) in enumerate(ways_out(model, now).items()):
            label, key = f"{LABELS[name]} {value}", f"{PAGE}_fix_{number}"
            controls.button(label, key, session.assign, PAGE, {name: value})
    return False


def problem_of(model: str, settings: Mapping[str, Any]) -> str:
    """Why a network of these sizes is not run; "" if it is."""
    try:
        config = config_of(sizes.KINDS[model], sizes.of(model, settings))
    except ValueError as error:
        return str(error)
    free = compute.memory_check.available_memory(shared.device())
    needed = compute.peak_memory(compute.parts(config)) if model == sizes.VIT else 0
    if free is None or needed <= SHARE * free:
        return ""
    return (
        f"This network needs about {short(needed, 'memory')} of memory, but only"
        f" {short(free, 'memory')} are free: make it smaller."
    )


def ways_out(model: str, settings: Mapping[str, Any]) -> dict[str, int]:
    """For each setting that alone mends the problem: the nearest such value."""
    fixes = {}
    for name, values in sizes.RANGES[model].items():
        near = sorted(values, key=lambda value: abs(value - settings[name]))
        right = (each for each in near if not problem_of(model, {**settings, name: each}))
        if (value := next(right, None)) is not None:
            fixes[name] = value
    return fixes
