"""The vision transformer in six steps: each with its picture, and the shapes as they are now."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.image import painter, picture
from viz.pages.lessons import cells, frame
from viz.pages.lessons.vision import counts as vision_counts
from viz.pages.lessons.vision import picture as vision_picture
from viz.pages.lessons.vision import texts as vision_texts
from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.attention import Pattern
    from models.lessons.vit_steps import ViTStep
    from models.vit import ViT, ViTConfig

NAME = "vision"
STEPS = ("patches", "projection", "class token", "positions", "block", "classes")
SIZES = {"28": "28", "56": "56", "112": "112", "224": "224"}
PATCHES = {each: each for each in ("1", "4", "7", "8", "14", "16", "28")}
ORDERS = {"p1 p2 c": "row, column, channel", "c p1 p2": "channel, row, column"}
KINDS = {"linear": "linear layer", "conv": "convolution"}
AXES = {"batch": "image", "dim": "features"}
MAX_TOKENS = 1100  # more would make the page wait
PARAMS = (
    link.choice("photo", "flower", picture.PHOTOS),
    link.choice("image", "224", SIZES),
    link.choice("patch", "14", PATCHES),
    link.choice("order", "p1 p2 c", ORDERS),
    link.choice("kind", "linear", KINDS),
    link.number("dim", 128, 16, 256, 16),
    link.number("heads", 8, 1, 16),
    link.number("own", 64, 4, 128, 4),
    link.number("depth", 6, 1, 6),
    link.number("seed", 0, 0, 999),
    link.number("at", 100, 0, 9999),
    link.number("head", 0, 0, 15),
    frame.step(STEPS),
    *vision_counts.PARAMS,
)


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*vision_texts.TEXT)
    frame.formula(
        r"z_0 = [x_{\text{class}};\, x_1 E;\, \dots;\, x_N E] + E_{\text{pos}}",
        r"z'_l = \operatorname{MSA}(\operatorname{LN}(z_{l-1})) + z_{l-1}",
        r"z_l = \operatorname{MLP}(\operatorname{LN}(z'_l)) + z'_l",
    )
    frame.text(*vision_texts.SYMBOLS)
    frame.heading("Six steps")
    frame.text(*vision_texts.CONTROL_TEXT)
    _controls()
    at = frame.stepper(NAME, STEPS)
    try:
        _steps(at)
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, *vision_texts.TRIES)
    vision_counts.why()
    vision_counts.counted()
    frame.heading("Pretraining and fine-tuning")
    frame.text(*vision_texts.TRAIN_TEXT)
    _code()
    frame.took(*vision_texts.TAKEN)


def said(name: str) -> str:
    """What one of the controls says."""
    return st.session_state[f"{NAME}_{name}"]


def _controls() -> None:
    photos = {name: name for name in picture.PHOTOS}
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.choice(NAME, "photo", "Photo", photos, "What it looks at")
        controls.choice(NAME, "image", "Image side", SIZES, "In pixels")
        controls.choice(NAME, "patch", "Patch side", PATCHES, "In pixels")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.choice(NAME, "order", "A patch's numbers", ORDERS, "In which order")
        controls.choice(NAME, "kind", "Projected by", KINDS, "The same sum, written otherwise")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.slider(NAME, "dim", "Model width", (16, 256), "Of every token", step=16)
        controls.slider(NAME, "heads", "Heads", (1, 16), "In each block")
        controls.slider(NAME, "own", "Head width", (4, 128), "Of each head", step=4)
        controls.slider(NAME, "depth", "Blocks", (1, 6), "On top of each other")
        controls.seed(NAME)


def config() -> "ViTConfig":
    """The network that the controls stand for.

    Raises:
        ValueError: where patches do not fit, or there would be too many for a page.
    """
    from models.vit import ViTConfig

    made = ViTConfig(
        image=int(said("image")),
        patch=int(said("patch")),
        order=said("order"),
        patches=said("kind"),
        dim=int(said("dim")),
        heads=int(said("heads")),
        head_dim=int(said("own")),
        depth=int(said("depth")),
        mlp=2048,
        classes=1000,
        qkv_bias=False,
        seed=int(said("seed")),
    )
    if made.tokens > MAX_TOKENS:
        weights = made.heads * made.tokens**2
        raise ValueError(
            f"these patches are {made.tokens:,} tokens, and a block has {weights:,} weights:"
            f" expected at most {MAX_TOKENS:,} tokens on this page. Take larger patches"
        )
    return made


def _steps(at: int) -> None:
    """The pictures and shapes of every step up to this one."""
    chosen = config()
    network, steps, pattern = _traced(chosen, said("photo"))
    shown = [step for step in steps if int(step.number[0]) <= at + 1]
    _shapes(shown)
    number = _followed(chosen, at)
    for each in range(at + 1):
        frame.text(_told(each, chosen))
        vision_picture.draw(each, chosen, network, steps, pattern, number)
    _explore(chosen)


def _told(step: int, chosen: "ViTConfig") -> str:
    """What a step does, with the sizes as they are now."""
    side, patch = int(said("image")), int(said("patch"))
    sizes = {"side": side, "patch": patch, "count": chosen.tokens - 1, "dim": chosen.dim}
    return vision_texts.STEP_TEXTS[step].format(**sizes, numbers=3 * patch * patch)


def _explore(chosen: "ViTConfig") -> None:
    """To the Image page, as far as it has these sizes; its heads share the model's width."""
    same = {name: said(name) for name in ("photo", "dim", "depth", "seed", "order")}
    if said("image") in ("112", "224") and int(said("patch")) in painter.PATCHES:
        same |= {"size": said("image"), "patch": said("patch")}
    if chosen.width % chosen.heads == 0:
        same["heads"] = str(chosen.heads)
    frame.explore("Open this photo and network in the explorer", "explore/image", **same)


def _followed(chosen: "ViTConfig", at: int) -> int:
    """Which patch is followed; in the block, also which head."""
    patches, heads = chosen.tokens - 1, chosen.heads
    state = st.session_state
    for name, count in (("at", patches), ("head", heads)):
        state[f"{NAME}_{name}"] = min(int(said(name)), count - 1)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        if patches > 1:
            controls.slider(NAME, "at", "Follow patch", (0, patches - 1), "Which one is shown")
        if heads > 1 and at >= STEPS.index("block"):
            controls.slider(NAME, "head", "Head", (0, heads - 1), "Whose weights are shown")
    return int(said("at"))


def _shapes(steps: "list[ViTStep]") -> None:
    rows = [
        [
            f"{step.number} {step.name}",
            _axes(step),
            ORDERS.get(step.formula, step.formula),
        ]
        for step in steps
    ]
    frame.show(cells.table(("step", "shape now", "formula"), rows, title="What every step gives"))


def _axes(step: "ViTStep") -> str:
    pairs = zip(step.out.shape, step.axes, strict=True)
    return " × ".join(f"{size:,} {AXES.get(axis, axis)}" for size, axis in pairs)


@st.cache_resource(max_entries=6, show_spinner=False)
def _traced(chosen: "ViTConfig", photo: str) -> "tuple[ViT, tuple[ViTStep, ...], Pattern]":
    from models.image import to_pixels
    from models.lessons.vit_steps import vit_steps
    from models.patches import pair
    from models.vit import ViT

    network = ViT(chosen).eval()
    image = vision_picture.photo(photo, pair(chosen.image)[0])
    steps, pattern = vit_steps(network, to_pixels(image))
    return network, steps, pattern


def _code() -> None:
    from models import patches
    from models.blocks import PreNormBlock
    from models.lessons import vit_steps
    from models.vit import ViT

    frame.code(
        NAME,
        patches.cut,
        patches.Patches.forward,
        ViT.embed,
        PreNormBlock.forward,
        ViT.forward,
        vit_steps.vit_steps,
    )
