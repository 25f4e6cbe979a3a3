"""The Architecture page's diagram, with details on each part, and its treemap."""

from typing import TYPE_CHECKING, Any

import streamlit as st
from headscope_views import view

from viz.architecture import QUANTITIES, base, short, treemap
from viz.pages.architecture import compute, network, presets
from viz.pages.architecture.presets import PAGE
from viz.pages.architecture.texts import COUNTED, does
from viz.pages.state import session
from viz.pages.widgets import charts
from viz.pages.widgets.sources import source

if TYPE_CHECKING:
    from models.cost.parts import Part, Shape

Parts = tuple["Part", ...]


def wait() -> None:
    """Lets the browser load the diagram while PyTorch is imported."""
    view("preload", {"load": "architecture"}, key=f"{PAGE}_diagram_preload")


def show(parts: Parts, beside: str, *, stale: bool, link: bool) -> None:
    """The diagram, beside details on the selected part or a treemap of a quantity.

    Args:
        parts: of the network.
        beside: "part", or one of `QUANTITIES`.
        stale: whether the controls now describe an invalid network.
        link: whether the page's link holds the selected part.
    """
    if beside not in QUANTITIES:
        _diagram(parts, "parameters", stale=stale, panel=True, link=link)
        return
    left, right = st.columns([3, 2] if len(parts) > 2 else [7, 4], gap="medium")
    with left:
        _diagram(parts, beside, stale=stale, panel=False, link=link)
    with right:
        _shares(parts, beside)


def _diagram(parts: Parts, quantity: str, *, stale: bool, panel: bool, link: bool) -> None:
    """The diagram; selecting a part happens in the browser and causes no rerun."""
    name = network.chosen()
    props = session.props(PAGE, (*presets.settings_of(name), presets.part_of(name)))
    if props["start"] and props["start"]["part"] not in [
        path for path, _, _ in compute.walk(parts)
    ]:
        props["start"] = props["defaults"]
    props |= {"page": f"{PAGE}/diagram" if link else "", "base": _base(parts, quantity)}
    view("architecture", props | {"busy": stale, "panel": panel}, key=f"{PAGE}_diagram")


def _base(parts: Parts, quantity: str) -> dict[str, Any]:
    """The parts with their details; code shared by several parts is included once."""
    sources: list[tuple[str, int, str]] = []

    def described(part: "Part", copies: int) -> dict[str, Any]:
        times, lines = copies * part.times, source(part.source)
        if lines not in sources:
            sources.append(lines)
        names = ("name", "title", "kind", "skips", "causal", *QUANTITIES, "times")
        return {
            **{name: getattr(part, name) for name in names},
            **{name: getattr(part, name) for name in ("takes", "gives", "context")},
            "heading": part.title + (f" × {times}" if times > 1 else ""),
            "sentence": does(part),
            "rows": _rows(part, times),
            "source": sources.index(lines),
            "parts": [described(inner, times) for inner in part.parts],
        }

    descriptions = [described(part, 1) for part in parts]
    listed = [{"file": file, "line": line, "code": code} for file, line, code in sources]
    return base(descriptions, listed, title=network.title(), quantity=quantity)


def _rows(part: "Part", times: int) -> list[tuple[str, str]]:
    """Shapes, formula and numbers of a part, as rows of a table.

    Args:
        part: of the network.
        times: total number of copies.
    """
    return [
        ("In", _axes(part.takes)),
        *([("From the encoder", _axes(part.context))] if part.context else []),
        ("Out", _axes(part.gives)),
        ("Formula", part.formula),
        *((title, _amount(part, name, times)) for name, (title, _) in QUANTITIES.items()),
    ]


def _shares(parts: Parts, quantity: str) -> None:
    """A treemap of all parts."""
    rows = [
        (path, part.title, times * getattr(part, quantity))
        for path, times, part in compute.walk(parts)
    ]
    if not any(value for _, _, value in rows):
        st.caption("Nothing to show: the total is 0.")
        return
    figure = treemap(*zip(*rows, strict=True), title=network.title(), quantity=quantity)
    alt = f"{QUANTITIES[quantity][0]} of every part"
    charts.draw(figure, f"{PAGE}_shares", alt)
    st.caption(COUNTED[quantity])


def summary(parts: Parts) -> str:
    """The network's totals as one line of HTML."""
    weights = compute.total(parts, "parameters")
    return (
        f"<p><b>{weights:,}</b> parameters ({short(4 * weights, 'memory')} as float32)"
        f" · <b>{short(compute.total(parts, 'flops'))}FLOP</b> a pass"
        f" · {short(compute.peak_memory(parts), 'memory')} to build and run it</p>"
    )


def _amount(part: "Part", quantity: str, times: int) -> str:
    value = getattr(part, quantity)
    one, all_ = f"{value:,}", f"{times * value:,}"
    return f"{one} each, {all_} in all" if times > 1 and value else one


def _axes(shape: "Shape") -> str:
    return " × ".join(f"{size:,} {name}" for name, size in shape)
