"""Controls of the Positions page, by scheme and view."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages import shared
from viz.pages.positions.encodings import Encoding
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

PAGE = "positions"
SCHEMES = {
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "grid": "2-D sin-cos",
    "rotary": "Rotary",
    "alibi": "ALiBi",
    "relative": "T5 relative",
    "compare": "Side by side",
}
VIEWS = {
    "table": "Table",
    "pairs": "Rotating pairs",
    "similar": "Similarity",
    "tiles": "Tile grid",
    "distance": "By distance",
    "bias": "Bias per head",
    "buckets": "Buckets",
    "regrid": "Another grid",
    "alone": "Position alone",
}
VIEWS_OF = {
    "sinusoidal": ("table", "similar", "tiles", "distance"),
    "learned": ("table", "similar", "tiles", "distance"),
    "grid": ("table", "similar", "tiles", "distance", "regrid"),
    "rotary": ("pairs", "table", "distance"),
    "alibi": ("bias", "distance"),
    "relative": ("bias", "buckets", "distance"),
    "compare": ("alone",),
}
BASES = ("10", "100", "1000", "10000", "100000", "1000000")
PARAMS = (
    link.choice("scheme", "sinusoidal", SCHEMES),
    link.choice("view", "table", VIEWS),
    link.number("length", 64, 8, 512, 8),
    link.number("width", 64, 8, 512, 4),
    link.choice("base", "10000", BASES),
    link.choice("source", "minilm", ("minilm", "random")),
    link.number("seed", 0, 0, 999),
    link.number("rows", 14, 2, 20),
    link.number("cols", 14, 2, 20),
    link.number("newrows", 24, 2, 40),
    link.number("newcols", 24, 2, 40),
    link.number("heads", 8, 1, 16),
    link.number("head", 0, 0, 15),
    link.choice("keys", "both", ("both", "causal")),
    link.choice("scale", "fixed", ("fixed", "own")),
    link.number("position", 20, 0, 511),
    link.number("key", 12, 0, 511),
    link.number("dim", 4, 0, 511),
)


def value(name: str) -> int | str:
    """The value of a setting."""
    return session.get(PAGE, name)


def whole(name: str) -> int:
    """The value of a setting that is a number."""
    return int(value(name))


def choose() -> tuple[Encoding, DeltaGenerator]:
    """Draws the scheme, the view, and the controls that apply to them.

    Returns:
        The encoding, and the row of controls, to which a view adds its own sliders.
    """
    with st.container(key=f"{PAGE}_top", horizontal=True, gap="medium"):
        scheme = controls.choice(PAGE, "scheme", "Scheme", SCHEMES, "How positions are encoded")
        views = VIEWS_OF[scheme]
        if value("view") not in views:
            session.edit(PAGE, {"view": views[0]})
        if len(views) > 1:
            titles = {view: VIEWS[view] for view in views}
            controls.choice(PAGE, "view", "View", titles, "What to look at")
    row = st.container(key=f"{PAGE}_controls", horizontal=True, gap="small")
    with row:
        for control in _controls(scheme, str(value("view"))):
            CONTROLS[control]()
    return _encoding(scheme), row


def pointer(name: str, label: str, last: int, help: str) -> int:
    """A slider over positions or dimensions, limited to the current sizes."""
    if whole(name) > last:
        session.edit(PAGE, {name: last})
    if last:
        _slider(name, label, (0, last), help)
    return whole(name)


def _encoding(scheme: str) -> Encoding:
    grid = value("view") == "tiles" or scheme == "grid"
    rows, cols = whole("rows"), whole("cols")
    return Encoding(
        scheme=scheme,
        length=rows * cols if grid else whole("length"),
        width=whole("width"),
        base=float(value("base")),
        rows=rows,
        cols=cols,
        heads=whole("heads"),
        causal=value("keys") == "causal",
        trained=value("source") == "minilm",
        seed=whole("seed"),
        device=shared.device(),
    )


def _controls(scheme: str, view: str) -> list[str]:
    """The names of the controls that change what is shown."""
    random = scheme == "relative" and view != "buckets"
    learned = scheme in ("learned", "compare")
    drawn = learned and value("source") == "random"
    wanted = {
        "source": learned,
        "seed": random or drawn or scheme == "compare",
        "length": scheme != "grid" and view != "tiles",
        "grid": scheme == "grid" or view == "tiles",
        "newgrid": view == "regrid",
        "width": scheme in ("sinusoidal", "grid", "rotary", "compare") or drawn,
        "base": scheme in ("sinusoidal", "grid", "rotary", "compare"),
        "heads": scheme in ("alibi", "relative", "compare") and view != "buckets",
        "keys": scheme in ("alibi", "relative", "compare"),
        "scale": view in ("similar", "tiles"),
    }
    return [name for name, visible in wanted.items() if visible]


def _source() -> None:
    titles = {"minilm": "MiniLM (trained)", "random": "Random (untrained)"}
    help = "MiniLM's trained table, or a random one, as at the start of training"
    controls.choice(PAGE, "source", "Learned table", titles, help)


def _grid() -> None:
    _slider("rows", "Patch rows", (2, 20), "ViT-B/16 has 14 × 14 patches at 224 pixels")
    _slider("cols", "Patch columns", (2, 20), "Patches are numbered row by row")


def _newgrid() -> None:
    _slider("newrows", "New rows", (2, 40), "24 × 24 patches: ViT-B/16 at 384 pixels")
    _slider("newcols", "New columns", (2, 40), "A wider image gives more columns")


def _base() -> None:
    titles = {base: f"{int(base):,}" for base in BASES}
    help = "Wavelengths range from 2π to 2π times the base"
    controls.select(PAGE, "base", "Base", titles, help, width=SLIDER)


def _keys() -> None:
    titles = {"both": "Both sides", "causal": "Causal"}
    controls.choice(PAGE, "keys", "Keys", titles, "Causal: keys after the query are hidden")


def _scale() -> None:
    titles = {"fixed": "−1 to 1", "own": "Stretch contrast"}
    help = "A fixed colour range for all schemes, or the range of this scheme's values"
    controls.choice(PAGE, "scale", "Colours", titles, help)


SLIDER = 120  # pixels


def _slider(name: str, label: str, span: tuple[int, int], help: str, *, step: int = 1) -> None:
    controls.slider(PAGE, name, label, span, help, step=step, width=SLIDER)


CONTROLS = {
    "source": _source,
    "seed": lambda: controls.seed(PAGE, "Seed of everything that is random"),
    "length": lambda: _slider("length", "Length", (8, 512), "Number of positions", step=8),
    "grid": _grid,
    "newgrid": _newgrid,
    "width": lambda: _slider("width", "Width", (8, 512), "Number of dimensions", step=4),
    "base": _base,
    "heads": lambda: _slider("heads", "Heads", (1, 16), "Number of heads, each with its own bias"),
    "keys": _keys,
    "scale": _scale,
}
