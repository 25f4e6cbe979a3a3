"""The Models page's picture: the explorer of the Text page, or the view of the Image page."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import explorer
from viz.pages.image import picture
from viz.pages.image import view as picture_view
from viz.pages.models import checkpoint
from viz.pages.models.checkpoint import PAGE, Open, Source
from viz.pages.models.input import Looked
from viz.pages.shared import Traced, plain
from viz.pages.state import params as link
from viz.pages.text import words
from viz.pages.widgets import badge, snippet

if TYPE_CHECKING:
    from models.model import Model
    from models.trace import Trace

PARAMS = (
    *words.PARAMS,
    link.number("layer", 0, 0, 999),
    link.choice("attention", "self", explorer.KINDS),
    link.text("tower", ""),
    link.number_or("head", 0, 999, ("mean", "max")),
    link.number("token", None, 0, 9999),
    link.choice("direction", "out", ("out", "in")),
    link.choice("scale", "fixed", ("fixed", "own", "layer")),
)


@dataclass(frozen=True)
class Patches:
    """How a picture becomes tokens."""

    patch: int
    dim: int
    order: str


def traced(open_: Open, looked: Looked) -> Traced:
    """Runs the model on its input, and says what was changed in it."""
    with st.spinner("Running the model …"):
        found = checkpoint.look(open_, looked.given, looked.argument)
    notes = dict.fromkeys((*looked.notes, *found.trace.notes))
    if notes:
        st.caption(plain("; ".join(notes)))
    return found


def show(open_: Open, looked: Looked, found: Traced) -> None:
    """Where the heads of a model look."""
    model = open_.model
    patches = patches_of(model, found.trace)
    if patches is not None and looked.image is not None:
        name = hashlib.sha256(f"{found.identity}image".encode()).hexdigest()[:12]
        seen = picture.Seen(found.trace, name, picture.encoded(looked.image), looked.notes)
        picture_view.show(PAGE, patches, seen)
    else:
        found = words.seen(PAGE, found)
        explorer.show(PAGE, found)
    select = explorer.selection(PAGE, found.shown)
    badge.show(PAGE, found.trace, found.identity, select, lambda: (model, *looked.argument))
    _snippet(open_.source, looked, found, select)


def patches_of(model: "Model", trace: "Trace") -> Patches | None:
    """The square patches of a picture whose every layer attends over all of them; else None."""
    from models.loading.summary import parts

    if trace.grid is None or model.preprocessing is None:
        return None
    rows, cols = trace.grid
    count = trace.prefix + rows * cols
    side = model.preprocessing.size[0] // rows
    whole = (rows * side, cols * side) == tuple(model.preprocessing.size)
    alike = all(site.queries == site.keys == count for site in trace.sites)
    if not whole or not alike or len({site.tower for site in trace.sites}) > 1:
        return None
    order = getattr(model.network.config, "order", "c p1 p2")
    return Patches(side, parts(model)[0].dim or 0, order)


def _snippet(source: Source, looked: Looked, found: Traced, select: dict[str, Any]) -> None:
    """A folded box with the lines of Python that give the same numbers."""
    box = st.expander("The same in Python", key=f"{PAGE}_snippet", on_change="rerun")
    if box.open:
        box.code(code(source, looked, found, select), language="python")


def code(source: Source, looked: Looked, found: Traced, select: dict[str, Any]) -> str:
    """Opens the model, traces the input, and reads the weights that are shown."""
    options = [] if source.dtype == "float32" else [f"dtype=torch.{source.dtype}"]
    options += [] if source.device == "cpu" else [f"device={source.device!r}"]
    options += [] if source.door == "auto" else [f"door={source.door!r}"]
    imports = ["from models.run import load, trace"]
    imports = ["import torch", "", *imports] if "torch." in "".join(options) else imports
    given = [_literal(part, looked) for part in looked.argument if part is not None]
    if any("torch." in part for part in given) and "import torch" not in imports:
        imports = ["import torch", "", *imports]
    lines = [
        f"model = load({', '.join([repr(source.name), *options])})",
        f"t = trace(model, {', '.join(given)})",
    ]
    if found.view is not None:
        imports.insert(len(imports) - 1, "from analysis.view import View")
        lines.append(f"t = View(t, words={found.view.words}, special={found.view.special!r})")
    shown = snippet.weights_of(found.trace, select)
    return "\n".join([*imports, "", *lines, f"{shown}  # query × key"])


def _literal(value: Any, looked: Looked) -> str:
    """A part of the input as Python would write it; pictures by a name to fill in."""
    if isinstance(value, str | tuple):
        return repr(value)
    if isinstance(value, dict):
        parts = (f"{name!r}: {_literal(part, looked)}" for name, part in value.items())
        return f"{{{', '.join(parts)}}}"
    if hasattr(value, "tolist") and not value.is_floating_point():
        return f"torch.tensor({value.tolist()})"
    return "Path('picture.png')"
