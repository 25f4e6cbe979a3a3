"""What a picture was made of, under it: how it was computed, and whether its rows are whole."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import shared
from viz.pages.shared import plain

if TYPE_CHECKING:
    from models.attention import Mask, Pattern
    from models.model import Model
    from models.trace import Site, Trace
    from models.verify import Verdict

ROUNDING = {"float32": 1e-4, "bfloat16": 5e-2, "float16": 1e-2}  # of a whole network's output
PATHS = {"fused": "PyTorch’s fused kernel", "explicit": "the explicit formula"}


def show(
    page: str,
    trace: "Trace",
    identity: str,
    select: dict[str, Any],
    run: "Callable[[], tuple[Model, Any, Any]]",
) -> None:
    """The line, and a button that has the model run once more by the weights that are drawn.

    Args:
        page: whose keys the button uses.
        trace: what is shown.
        identity: its name for the browser.
        select: what is chosen in it.
        run: gives the model, and the input and target it was given.
    """
    state, key = st.session_state, f"{page}_verdict"
    with st.container(key=f"{page}_badge", horizontal=True, vertical_alignment="center"):
        st.caption(plain(_line(identity, select["site"], trace)), width="content")
        asked = st.button(
            "Is this what the model used?",
            key=f"{page}_verify",
            type="tertiary",
            help="Runs the model once more with the values of every attention layer made from the"
            " weights drawn here, and compares its output with the untouched model’s",
        )
    if asked:
        with st.spinner("Running the model twice …"):
            state[key] = identity, _verified(*run())
    if state.get(key, ("", ""))[0] == identity:
        st.caption(plain(state[key][1]))


@st.cache_resource(max_entries=128, show_spinner=False)
def _line(identity: str, index: int, _trace: "Trace") -> str:
    """Worked out once a layer: the view asks questions while the pointer moves."""
    return line(_trace, _trace.sites[index])


def line(trace: "Trace", site: "Site") -> str:
    """How one layer's weights were computed, of what mask, and what their rows sum to."""
    from analysis.rows import checked

    pattern = trace.pattern(site.layer, kind=site.kind, tower=site.tower)
    found = checked(trace, site)
    every = "every row" if found.rows == found.of else f"{found.rows:,} of {found.of:,} rows"
    said = [
        f"Layer {site.layer}: computed by {PATHS[pattern.path]}",
        str(pattern.q.dtype).removeprefix("torch."),
        f"mask: {mask(pattern.mask)}",
        f"{every} of all heads checked: {_sums(found, pattern)}",
    ]
    return " · ".join(said)


def _sums(found: Any, pattern: "Pattern") -> str:
    if found.odd:
        return f"{found.odd:,} are no shares of a whole"
    parts = [f"{found.whole:,} sum to 1"]
    below = found.rows - found.whole - found.empty
    if below:
        sink = getattr(pattern.score, "sink", None) is not None
        parts.append(f"{below:,} to less{', a sink keeps the rest' if sink else ''}")
    return ", ".join([*parts, f"{found.empty:,} empty"])


def mask(rule: "Mask") -> str:
    """The rules of a mask in words."""
    said = [
        "causal" if rule.causal else "",
        "" if rule.window is None else f"window of {rule.window:,}",
        "padding" if rule.padding is not None else "",
        "segments" if rule.segments is not None else "",
        "a matrix of its own" if rule.dense is not None else "",
        "cut edges" if rule.cut else "",
    ]
    return ", ".join(part for part in said if part) or "none"


def _verified(model: "Model", given: Any, target: Any) -> str:
    from models.verify import verify

    try:
        with shared.forward_pass(model):
            return told(verify(model, given, target), next(model.network.parameters()).dtype)
    except ValueError as error:
        return str(error)


def told(found: "Verdict", dtype: object) -> str:
    """What the second pass showed."""
    share = found.difference / found.largest if found.largest else 0.0
    kind = str(dtype).removeprefix("torch.")
    same = share < ROUNDING.get(kind, ROUNDING["float32"])
    close = f"Yes, up to the rounding of {kind}" if same else "No: they differ"
    return (
        f"{close}. With the values of all {found.sites} attention layers made from these weights"
        f" ({found.rows:,} rows), the output differs from the untouched model’s by at most"
        f" {found.difference:.1e}; its largest number is {found.largest:.3g}, so that is"
        f" {share:.1e} of it."
    )
