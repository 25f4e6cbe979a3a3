"""The Architecture page's diagram, with details on each part."""

from typing import TYPE_CHECKING, Any

from headscope_views import view

from viz.architecture import QUANTITIES, base, short
from viz.pages import compute
from viz.pages.architecture import network, presets
from viz.pages.architecture.presets import PAGE
from viz.pages.architecture.texts import does
from viz.pages.state import session
from viz.pages.widgets.sources import source

if TYPE_CHECKING:
    from models.cost.parts import Part, Shape

Parts = tuple["Part", ...]


def wait() -> None:
    """Lets the browser load the diagram while PyTorch is imported."""
    view("preload", {"load": "architecture"}, key=f"{PAGE}_diagram_preload")


def show(parts: Parts, *, stale: bool, link: bool) -> None:
    """The diagram, beside details on the selected part, which is chosen in the browser.

    Args:
        parts: of the network.
        stale: whether the controls now describe an invalid network.
        link: whether the page's link holds the selected part.
    """
    name = network.chosen()
    props = session.props(PAGE, (*presets.settings_of(name), presets.part_of(name)))
    props |= {"page": f"{PAGE}/diagram" if link else "", "base": _base(parts), "busy": stale}
    view("architecture", props, key=f"{PAGE}_diagram")


def _base(parts: Parts) -> dict[str, Any]:
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
    return base(descriptions, listed, title=network.title())


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
        *((title, _amount(part, name, times)) for name, title in QUANTITIES.items()),
    ]


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
