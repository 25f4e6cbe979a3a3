"""The Image page's controls: which picture, how it is fitted, and the network's sizes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import explorer, settings, shared
from viz.pages.image import gallery, picture
from viz.pages.image.picture import BUILT, Seen, ViTChoice
from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.model import Model

ROOT = Path(__file__).parents[3]
PATCHES = (4, 7, 8, 14, 16, 20, 28, 32, 56)
POSITIONS = ("learned", "sinusoidal", "sincos2d", "none")
ORDERS = {"p1 p2 c": "by pixel", "c p1 p2": "by channel"}
FITS = {"crop": "Crop", "pad": "Pad", "stretch": "Stretch"}
FIELDS = ("size", "patch", "heads", "dim", "depth", "positions", "registers", "seed", "order")
TITLES = {"flower": "A flower", "china": "A temple"}
PARAMS = (
    link.choice("model", BUILT, gallery.TITLES),
    link.choice("fit", "crop", FITS),
    link.number("size", 224, 32, 512, 16),
    link.one_of("patch", 16, PATCHES),
    link.number("heads", 6, 1, 16),
    link.number("dim", 192, 16, 768, 16),
    link.number("depth", 6, 1, 12),
    link.choice("positions", "learned", POSITIONS),
    link.number("registers", 0, 0, 8),
    link.number("seed", 0, 0, 999),
    link.choice("order", "p1 p2 c", ORDERS),
)


STYLE = """<style>
.st-key-image_source, .st-key-image_controls { row-gap: .4rem; }
.st-key-image_source [data-testid="stFileUploaderDropzone"] {
  padding: 0 .5rem; min-height: 0; flex-direction: row; align-items: center; gap: .6rem; }
.st-key-image_source [data-testid="stFileUploaderDropzone"] button { min-height: 2.2rem; }
.st-key-image_source button[kind="primary"] { background: transparent; color: inherit;
  border-width: 2px; }
</style>"""


def take_dropped(page: str) -> None:
    """Takes a file that was dropped since the last run.

    Every run looks at its id: a callback would be gone with a run that another one replaced.
    """
    if is_dropped(page):
        file = st.session_state[_uploader(page)]
        st.session_state[f"{page}_taken"] = file.file_id
        picture.take(page, file.getvalue())


def is_dropped(page: str) -> bool:
    """Whether a file was dropped that is not yet taken."""
    file = st.session_state.get(_uploader(page))
    return file is not None and file.file_id != st.session_state.get(f"{page}_taken")


def source(page: str, model: str = BUILT, *, chooser: Callable[[str], None] | None = None) -> None:
    """A network's own pictures or else the photos, and the place to drop one's own.

    Args:
        page: whose.
        model: the network.
        chooser: of the network, if it is to stand here.
    """
    st.html(STYLE)
    with st.container(key=f"{page}_source", horizontal=True, vertical_alignment="bottom"):
        if chooser is not None:
            chooser(page)
        own = picture.samples(model)
        for name, title in ({name: each.name for name, each in own.items()} or TITLES).items():
            st.button(
                title,
                key=f"{page}_photo_{name.replace('/', '_').removesuffix('.png')}",
                type="primary" if _is_shown(page, name) else "secondary",
                on_click=_choose,
                args=(page, name),
            )
        st.file_uploader(
            "Or drop a PNG, JPEG, WebP, GIF or BMP",
            key=_uploader(page),
            width=360,
        )


def choose(page: str) -> ViTChoice:
    """The network; of one that is built here its controls, the less used ones folded away."""
    state = st.session_state
    if state[f"{page}_model"] != BUILT:
        return picture.trained(state[f"{page}_model"])
    with st.container(
        key=f"{page}_controls", horizontal=True, gap="small", vertical_alignment="bottom"
    ):
        _slider(page, "size", "Image size", (32, 512), "Rows and columns of pixels it takes", 16)
        told = "Pixels along a patch's side; it must divide the image size"
        _select(page, "patch", "Patch", {side: str(side) for side in PATCHES}, told, 80)
        _slider(page, "heads", "Heads", (1, 16), "How many attentions run side by side")
        _slider(page, "dim", "Dim", (16, 768), "Width of the model; each head gets dim / heads", 16)
        _slider(page, "depth", "Depth", (1, 12), "How many blocks, one layer of attention each")
        with st.popover("More", key=f"{page}_more"):
            _less_used(page)
    return ViTChoice(**{name: state[f"{page}_{name}"] for name in FIELDS})


def _less_used(page: str) -> None:
    controls.choice(
        page,
        "fit",
        "A picture that is not square",
        FITS,
        "The network takes square pictures: cut the sides off, add grey bars, or stretch",
    )
    with st.container(horizontal=True, gap="small"):
        told = "How the place of a patch gets in; none: the patches are a bag"
        _select(page, "positions", "Positions", {name: name for name in POSITIONS}, told, 115)
        _slider(page, "registers", "Registers", (0, 8), "Extra learned tokens without a place")
        told = "How the numbers of a patch are lined up before they are projected"
        _select(page, "order", "Order", ORDERS, told, 120)
        controls.seed(page)


def missing(page: str) -> list[str]:
    """One line for an uploaded picture that the link stands for and that is not here."""
    state = st.session_state
    wanted = state[f"{page}_upload"]
    if not wanted or wanted in (state.get(f"{page}_files") or {}):
        return []
    return [
        f"This link was made with a picture of somebody's own (SHA-256 {wanted[:12]}…): drop that"
        " file to see the same. Here is a photo instead."
    ]


def given(page: str, choice: ViTChoice) -> "tuple[Model, Image, None]":
    """The network, and the picture as it gets it."""
    from models.image import fit_image

    data, digest = picture.source(page)
    how = st.session_state[f"{page}_fit"]
    opened = picture.opened_image(digest, data)
    image, _ = fit_image(opened, choice.size, choice.size, how)
    return picture.network(choice, shared.device()), image, None


def refused(page: str) -> None:
    """Why the last dropped file is not shown."""
    reason = st.session_state.get(f"{page}_refused")
    if reason:
        shared.error_line(f"{reason}. The picture before it is still here.")


def told(notes: tuple[str, ...]) -> None:
    """What was done to the picture on its way."""
    if notes:
        st.caption(shared.plain("Done to the picture: " + "; ".join(notes) + "."))


def snippet(page: str, choice: ViTChoice, found: Seen) -> None:
    """A folded box with the lines of Python that give the same numbers."""
    with st.expander("The same in Python"):
        st.code(code(page, choice, found), language="python")


def code(page: str, choice: ViTChoice, found: Seen) -> str:
    """Opens and fits the picture, builds the network, and reads the weights that are shown."""
    state, select = st.session_state, explorer.selection(page, found.trace)
    shown = picture.PICTURES[state[f"{page}_photo"]]
    name = "picture.png" if state[f"{page}_upload"] else shown.relative_to(ROOT).as_posix()
    fields = ", ".join(f"{name}={value!r}" for name, value in choice.sizes.items())
    site, head = select["site"], select["head"]
    weights = {
        "mean": f"t.weights(layer={site}).mean(0)",
        "max": f"t.weights(layer={site}).amax(0)",
    }
    built = choice.model == BUILT
    source = f"ViTConfig({fields})" if built else repr(choice.model)
    imports = "\nfrom models.vit import ViTConfig" if built else ""
    return f"""from pathlib import Path

from models.image import fit_image, open_image
from models.run import load, trace{imports}

picture = open_image(Path({name!r}))
image, note = fit_image(picture, {choice.size}, {choice.size}, {state[f"{page}_fit"]!r})
t = trace(load({source}), image)
{weights.get(head, f"t.weights(layer={site}, head={head})")}  # query × key"""


def _uploader(page: str) -> str:
    return f"{page}_file_{st.session_state.setdefault(f'{page}_turn', 0)}"


def _is_shown(page: str, name: str) -> bool:
    state = st.session_state
    return not state[f"{page}_upload"] and state[f"{page}_photo"] == name


def _choose(page: str, name: str) -> None:
    state = st.session_state
    own = picture.samples(name.partition("/")[0])
    if name in own:
        gallery.take(page, name, own[name])
    settings.say(page, {"photo": name, "upload": ""})
    state[f"{page}_refused"] = None
    state[f"{page}_turn"] += 1  # another uploader: the old one would still list its file


def _slider(
    page: str, name: str, label: str, span: tuple[int, int], told: str, step: int = 1
) -> None:
    controls.slider(page, name, label, span, told, step=step, width=100)


def _select(
    page: str, name: str, label: str, options: Mapping[Any, str], told: str, width: int
) -> None:
    st.selectbox(
        label,
        list(options),
        format_func=options.__getitem__,
        key=f"{page}_{name}",
        persist_state="session",
        help=told,
        width=width,
    )
