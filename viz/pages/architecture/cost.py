"""Predicted cost of building and running the Architecture page's network."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.api import passes
from viz.architecture import short
from viz.pages import shared
from viz.pages.architecture import fixes, network
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
    from models.cost.memory import peak_memory
    from models.cost.memory_check import SHARE, available_memory

    free, wanted, seconds = available_memory(), peak_memory(parts), predicted(parts)
    cost = f"about {short(wanted, 'memory')} of memory and {_time(seconds)}"
    if free is not None and wanted > SHARE * free:
        shared.error_line(
            f"This needs {cost}, but only {short(free, 'memory')} are free: make it smaller."
        )
        _offer(SHARE * free)
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
    from models.cost.count import parts
    from models.cost.memory import peak_memory

    def fits(made: Any, values: network.Values) -> bool:
        return peak_memory(parts(made, *network.sizes(values))) <= bytes

    with st.container(key=f"{PAGE}_smaller", horizontal=True, gap="small"):
        for number, fix in enumerate(fixes.smaller(fits)):
            controls.button(fix.label, f"{PAGE}_fit_{number}", session.assign, PAGE, fix.changes)


def predicted(parts: tuple[Any, ...]) -> float:
    """Seconds to draw the weights and run one pass."""
    from models.cost.count import total

    work = WASTE * total(parts, "flops") / passes.speed(shared.device())
    return SECONDS_A_WEIGHT * total(parts, "parameters") + work + 0.02


def _time(seconds: float) -> str:
    return "less than a second" if seconds < 1 else f"{seconds:,.0f} s"
