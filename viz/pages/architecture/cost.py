"""What building and running the Architecture page's network costs, said before it is done."""

import time
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.architecture import short
from viz.pages import shared
from viz.pages.architecture import blueprint
from viz.pages.architecture import fixes as blueprint_fixes
from viz.pages.architecture.blueprint import PAGE
from viz.pages.architecture.controls import change
from viz.pages.image import memory

if TYPE_CHECKING:
    from models.model import Config

SECONDS_A_WEIGHT = 8e-9  # to draw a random number
LARGE = 512 * 2**20  # bytes from which on a network is only built when asked for
SLOW = 4.0  # seconds, the same
WASTE = 2.0  # a pass takes longer than its matrix products


def allowed(config: "Config", parts: tuple[Any, ...]) -> bool:
    """Says what it costs; whether there is room for it and, if it is a lot, it was asked for."""
    from models.cost.memory import peak_memory

    room, wanted, seconds = memory.available(), peak_memory(parts), predicted(parts)
    said = f"about {short(wanted, 'memory')} of memory and {_time(seconds)}"
    if room is not None and wanted > memory.SHARE * room:
        shared.error_line(
            f"This needs {said}, and {short(room, 'memory')} are free: make it smaller."
        )
        _offer(memory.SHARE * room)
        return False
    state, name = st.session_state, repr(config)
    if wanted < LARGE and seconds < SLOW:
        st.caption(f"Building and running it takes {said}.")
        return True
    if state.get(f"{PAGE}_wanted_network") == name:
        return True
    st.caption(f"Building and running it takes {said}, so it is only done when asked for.")

    def ask() -> None:
        state[f"{PAGE}_wanted_network"] = name

    st.button(f"Build it ({short(wanted, 'memory')})", key=f"{PAGE}_build", on_click=ask)
    return False


def _offer(room: float) -> None:
    """Buttons for smaller networks that fit."""
    from models.cost.count import parts
    from models.cost.memory import peak_memory

    def fits(made: Any, said: blueprint_fixes.Values) -> bool:
        return peak_memory(parts(made, *blueprint.sizes(said))) <= room

    with st.container(key=f"{PAGE}_smaller", horizontal=True, gap="small"):
        for number, fix in enumerate(blueprint_fixes.smaller(fits)):
            st.button(fix.label, key=f"{PAGE}_fit_{number}", on_click=change, args=(fix.changes,))


def predicted(parts: tuple[Any, ...]) -> float:
    """Seconds to draw the weights and run one pass."""
    from models.cost.count import total

    work = WASTE * total(parts, "flops") / speed(shared.device())
    return SECONDS_A_WEIGHT * total(parts, "parameters") + work + 0.02


@st.cache_resource(max_entries=4, show_spinner=False)
def speed(device: str) -> float:
    """Operations a second of a matrix product, measured once."""
    import torch

    size = 384
    matrix = torch.ones(size, size, device=device)
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        float((matrix @ matrix)[0, 0])
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / max(min(seconds), 1e-7)


def _time(seconds: float) -> str:
    return "less than a second" if seconds < 1 else f"{seconds:,.0f} s"
