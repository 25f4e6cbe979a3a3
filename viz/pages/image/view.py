"""What the image view is sent: the picture with a layer first, then whatever it asks for.

The browser's questions are a stranger's input: whatever does not fit the trace is left out.
"""

from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.image import Layer, Rows, factor_for, message
from viz.pages import explorer
from viz.pages.answers import UNTRAINED, number_in
from viz.pages.image.picture import Cut, Seen

if TYPE_CHECKING:
    from torch import Tensor

    from models.trace import Site, Trace

SCALES = ("layer", "own", "fixed")
MANY = 512  # tokens from which on whole layers are not worked out for one key
MAX_PARTS = 8  # layers or rows in one answer


def show(page: str, choice: Cut, found: Seen) -> None:
    """The image view for this trace. The choice in it lives in the page's settings."""
    from headscope_views import image

    state, key = st.session_state, f"{page}_unheard"

    def everything(select: dict[str, Any], **told: Any) -> bytes:
        state[key] = first(choice, found, select, **told)
        return state[key]

    def more(ask: dict[str, Any]) -> bytes:
        """Nothing but the first message until the view speaks of its trace.

        What the view said while the network was at work starts another run, whose message would
        take the place of the first before the browser has read it.
        """
        if "trace" in ask:
            state[key] = None
        return state.get(key) or addition(found, ask)

    explorer.exchange(page, found.trace, found.identity, image, everything, more, scales=SCALES)


def first(
    choice: Cut,
    found: Seen,
    select: dict[str, Any],
    *,
    answer: int | None = None,
    heard: int = 0,
    overruled: int = 0,
    type_size: float = 1.0,
) -> bytes:
    """The picture, the shapes on the way, and all heads of the chosen layer."""
    from analysis.patches import grid_of

    trace = found.trace
    grid, prefix = grid_of(trace)
    base = {
        "model": trace.model,
        "note": "" if trace.trained else UNTRAINED,
        "query_labels": trace.labels,
        "key_labels": trace.labels,
        "sites": [
            {"layer": s.layer, "kind": s.kind, "heads": s.heads, "queries": s.queries}
            | {"keys": s.keys}
            for s in trace.sites
        ],
        "select": select,
        "grid": list(grid),
        "prefix": prefix,
        "patch": [choice.patch, choice.patch],
        "order": choice.order,
        "shapes": shapes(choice, grid, prefix),
        "heard": heard,
        "overruled": overruled,
        "type_size": type_size,
    }
    return message(
        trace=found.identity,
        answer=answer,
        base=base,
        picture=found.picture,
        layers=[_layer(trace, select["site"])],
    )


def addition(found: Seen, ask: dict[str, Any]) -> bytes:
    """The layers and exact rows that were asked for; what makes no sense is left out."""
    layers = [_layer(found.trace, site) for site in _asked(found, ask, "maps", 6)]
    rows = [_rows(found, *part) for part in _asked_rows(found, ask)]
    return message(trace=found.identity, answer=number_in(ask, "id"), layers=layers, rows=rows)


def shapes(choice: Cut, grid: tuple[int, int], prefix: int) -> list[dict[str, str]]:
    """What the picture becomes on its way into the first block."""
    rows, cols = grid
    count, side = rows * cols, choice.patch
    steps = [
        ("picture", f"3 × {rows * side} × {cols * side}"),
        (f"patches of {side} × {side} × 3", f"{rows} × {cols}"),
        ("unrolled", f"{count} × {3 * side * side}"),
        ("projected", f"{count} × {choice.dim}"),
    ]
    if prefix:
        many = "1 register" if prefix == 2 else f"{prefix - 1} registers"
        extra = "class token" if prefix == 1 else f"class token and {many}"
        steps.append((f"with the {extra}", f"{prefix + count} × {choice.dim}"))
    return [{"name": name, "shape": shape} for name, shape in steps]


def _layer(trace: "Trace", index: int) -> Layer:
    from analysis.patches import grid_of, layer_cells

    site = trace.sites[index]
    grid, prefix = grid_of(trace)
    factor = factor_for(site.heads, grid, prefix)
    weights = layer_cells(trace, site, factor).numpy(force=True)
    peaks = (float(weights[..., prefix:].max()), float(weights[:, prefix:].max()))
    return Layer(index, weights, factor, peaks)


def _rows(found: Seen, index: int, axis: str, token: int) -> Rows:
    from analysis.patches import heads_of_key, heads_of_query

    site: Site = found.trace.sites[index]
    if axis == "query":
        weights = heads_of_query(found.trace, site, token)
    else:
        totals = _totals(found.identity, index, found.trace) if site.keys > MANY else None
        weights = heads_of_key(found.trace, site, token, totals)
    return Rows(index, axis, token, weights.numpy(force=True))


@st.cache_resource(max_entries=24, show_spinner=False)
def _totals(identity: str, index: int, _trace: "Trace") -> "Tensor | None":
    """What makes one key's weights quick to have at many tokens: `head query` numbers."""
    from analysis.patches import totals_of

    return totals_of(_trace, _trace.sites[index])


def _asked(found: Seen, ask: dict[str, Any], name: str, length: int) -> list[Any]:
    """The sites of the questions of one kind."""
    return [part[0] for part in _parts(found, ask, name, length)]


def _asked_rows(found: Seen, ask: dict[str, Any]) -> list[tuple[int, str, int]]:
    parts = [(part[0], part[2], part[3]) for part in _parts(found, ask, "rows", 4)]
    count = len(found.trace.labels)
    return [
        (site, axis, token)
        for site, axis, token in parts
        if axis in ("query", "key") and type(token) is int and 0 <= token < count
    ]


def _parts(found: Seen, ask: dict[str, Any], name: str, length: int) -> list[list[Any]]:
    parts = ask.get(name)
    if not isinstance(parts, list):
        return []
    sites = range(len(found.trace.sites))
    return [
        part
        for part in parts[:MAX_PARTS]
        if isinstance(part, list) and len(part) == length and type(part[0]) is int
        if part[0] in sites
    ]
