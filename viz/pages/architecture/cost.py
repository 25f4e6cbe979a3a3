"""Predicted cost of building and running the Architecture page's network."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.api import passes
from viz.architecture import short
from viz.pages import shared
from viz.pages.architecture import compute, fixes, network
from viz.pages.architecture.presets import PAGE
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.model import Config

SECONDS_A_WEIGHT = 8e-9  # to draw one random number
LARGE = 512 * 2**20  # networks of more bytes are built on request only
SLOW = 4.0  # networks that take more seconds as well
WASTE = 2.0  # time of a pass relative to its matrix products


def allowed(config: "Config", parts: tuple[Any, ...]) -> bool:
    """Shows the cost; whether the network fits into memory and, if it is large, was requested."""
    free, wanted, seconds = (
        compute.memory_check.available_memory(),
        compute.peak_memory(parts),
        predicted(parts),
    )
    cost = f"about {short(wanted, 'memory')} of memory and {_time(seconds)}"
    if free is not None and wanted > compute.memory_check.SHARE * free:
        shared.error_line(
            f"This needs {cost}, but only {short(free, 'memory')} are free: make it smaller."
        )
        _offer(compute.memory_check.SHARE * free)
        return False
    if wanted < LARGE and seconds < SLOW:
        st.caption(f"Building and running it takes {cost}.")
        return True
    if st.session_state.get(f"{PAGE}/asked") == repr(config):
        return True
    st.caption(f"Building and running it takes {cost}, so it runs on request only.")
    controls.button(f"Build it ({short(wanted, 'memory')})", f"{PAGE}_build", _ask, repr(config))
    return False


def _ask(network: str) -> None:
    st.session_state[f"{PAGE}/asked"] = network


def _offer(bytes: float) -> None:
    """Buttons that reduce one size so that the network fits."""

    def fits(config: Any, values: network.Values) -> bool:
        return compute.peak_memory(compute.parts(config, *network.sizes(values))) <= bytes

    with st.container(key=f"{PAGE}_smaller", horizontal=True, gap="small"):
        for number, fix in enumerate(fixes.smaller(fits)):
            controls.button(fix.label, f"{PAGE}_fit_{number}", session.assign, PAGE, fix.changes)


def predicted(parts: tuple[Any, ...]) -> float:
    """Seconds to draw the weights and run one pass."""
    work = WASTE * compute.total(parts, "flops") / passes.speed(shared.device())
    return SECONDS_A_WEIGHT * compute.total(parts, "parameters") + work + 0.02


def _time(seconds: float) -> str:
    return "less than a second" if seconds < 1 else f"{seconds:,.0f} s"
