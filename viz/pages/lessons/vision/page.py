"""The vision transformer: from a picture to an answer, step by step, with the current shapes."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.image.picture import PHOTOS
from viz.pages.lessons import frame, tables
from viz.pages.lessons.vision import pictures, texts
from viz.pages.lessons.vision.story import STORY
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.cost.parts import Part
    from models.lessons.vit_steps import ViTStep
    from models.vit import ViTConfig

NAME = "vision"
STEPS = ("patches", "projection", "class token", "positions", "block", "classes")
SIZES = {"28": "28", "56": "56", "112": "112", "224": "224"}
PATCHES = {each: each for each in ("1", "4", "7", "8", "14", "16", "28")}
ORDERS = {"p1 p2 c": "row, column, channel", "c p1 p2": "channel, row, column"}
KINDS = {"linear": "linear layer", "conv": "convolution"}
AXES = {"batch": "image", "dim": "features"}
MAX_TOKENS = 1100  # more would make the page slow
NETWORKS = {
    "vit-32": "256/32, width 1024",
    "vit-14": "224/14, width 128",
    "vit-b16": "ViT-B/16",
    "vit-conv": "224/16 by convolution",
    "vit-raw-head": "no class token",
}
SIDES, PIXELS = (28, 64, 224), (1, 2, 4, 7, 14, 28)
PARAMS = (
    link.choice("photo", "flower", PHOTOS),
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
    link.choice("count", "vit-32", NETWORKS),
    link.choice("side", "28", [str(side) for side in SIDES]),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        _code()
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.formula(
        r"z_0 = [x_{\text{class}};\, x_1 E;\, \dots;\, x_N E] + E_{\text{pos}}",
        r"z'_l = \operatorname{MSA}(\operatorname{LN}(z_{l-1})) + z_{l-1}",
        r"z_l = \operatorname{MLP}(\operatorname{LN}(z'_l)) + z'_l",
        r"y = \operatorname{LN}(z_L^0)",
    )
    frame.text(*texts.SYMBOLS)
    frame.heading("Six steps")
    frame.text(*texts.CONTROL_TEXT)
    _controls()
    at = frame.stepper(NAME, STEPS)
    try:
        _steps(at)
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)
    _why()
    _parameters()
    frame.heading("Pretraining and fine-tuning")
    frame.text(*texts.TRAIN_TEXT)


def _controls() -> None:
    photos = {name: name for name in PHOTOS}
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.choice(NAME, "photo", "Photo", photos, "The input image")
        controls.choice(NAME, "image", "Image side", SIZES, "In pixels")
        controls.choice(NAME, "patch", "Patch side", PATCHES, "In pixels")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.choice(NAME, "order", "A patch's numbers", ORDERS, "Order when flattened")
        controls.choice(NAME, "kind", "Projected by", KINDS, "Two equivalent implementations")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.slider(NAME, "dim", "Model width", (16, 256), "Width of every token", step=16)
        controls.slider(NAME, "heads", "Heads", (1, 16), "Number of heads per block")
        controls.slider(NAME, "own", "Head width", (4, 128), "Width of each head", step=4)
        controls.slider(NAME, "depth", "Blocks", (1, 6), "Number of stacked blocks")
        controls.seed(NAME)


def _config() -> "ViTConfig":
    """The config described by the controls.

    Raises:
        ValueError: where patches do not fit, or there would be too many for a page.
    """
    from models.vit import ViTConfig

    settings = session.current(NAME).settings
    config = ViTConfig(
        image=int(settings["image"]),
        patch=int(settings["patch"]),
        order=settings["order"],
        patches=settings["kind"],
        dim=settings["dim"],
        heads=settings["heads"],
        head_dim=settings["own"],
        depth=settings["depth"],
        mlp=2048,
        classes=1000,
        qkv_bias=False,
        seed=settings["seed"],
    )
    if config.tokens > MAX_TOKENS:
        weights = config.heads * config.tokens**2
        raise ValueError(
            f"these patches are {config.tokens:,} tokens, and a block has {weights:,} weights:"
            f" expected at most {MAX_TOKENS:,} tokens on this page. Take larger patches"
        )
    return config


def _steps(at: int) -> None:
    """The pictures and shapes of every step up to this one."""
    run = _run(_config(), session.get(NAME, "photo"))
    _shapes([step for step in run.steps if int(step.number[0]) <= at + 1])
    patch, head = _followed(run.config, at)
    for number in range(at + 1):
        frame.text(_step_text(number, run.config))
        pictures.draw(NAME, number, run, patch, head)
    _explore(run.config)


def _step_text(step: int, config: "ViTConfig") -> str:
    """The description of a step, with the current sizes."""
    side, patch = int(session.get(NAME, "image")), int(session.get(NAME, "patch"))
    sizes = {"side": side, "patch": patch, "count": config.tokens - 1, "dim": config.dim}
    return texts.STEP_TEXTS[step].format(**sizes, numbers=3 * patch * patch)


def _explore(config: "ViTConfig") -> None:
    """A link to the Image page with these sizes, as far as they are available there."""
    settings = session.current(NAME).settings
    same = {name: settings[name] for name in ("photo", "dim", "depth", "seed", "order")}
    if settings["image"] in ("112", "224") and settings["patch"] != "1":
        same |= {"size": settings["image"], "patch": settings["patch"]}
    if config.width % config.heads == 0:
        same["heads"] = config.heads
    frame.explore("Open this photo and network in the explorer", "image", model="built", **same)


def _followed(config: "ViTConfig", at: int) -> tuple[int, int]:
    """The controls for patch and head, if the step uses them; returns both."""
    patches, heads = config.tokens - 1, config.heads
    patch = head = 0
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        if patches > 1:
            span = (0, patches - 1)
            patch = controls.slider(NAME, "at", "Follow patch", span, "The patch that is shown")
        if heads > 1 and at >= STEPS.index("block"):
            head = controls.slider(NAME, "head", "Head", (0, heads - 1), "Whose weights are shown")
    return patch, head


def _shapes(steps: "list[ViTStep]") -> None:
    rows = [
        [
            f"{step.number} {step.name}",
            _axes(step),
            ORDERS.get(step.formula, step.formula),
        ]
        for step in steps
    ]
    frame.show(tables.table("Output of every step", ("step", "shape", "formula"), rows))


def _axes(step: "ViTStep") -> str:
    pairs = zip(step.out.shape, step.axes, strict=True)
    return " × ".join(f"{size:,} {AXES.get(axis, axis)}" for size, axis in pairs)


@st.cache_resource(max_entries=6, show_spinner=False)
def _run(config: "ViTConfig", photo: str) -> "pictures.Run":
    from models.image import to_pixels
    from models.lessons.vit_steps import vit_steps
    from models.patches import pair
    from models.vit import ViT

    network = ViT(config).eval()
    image = pictures.photo(photo, pair(config.image)[0])
    steps, pattern = vit_steps(network, to_pixels(image))
    return pictures.Run(config, photo, network, steps, pattern)


def _why() -> None:
    """Tokens and weights for patches of every size."""
    from models.vit import ViTConfig
    from viz.architecture import short

    frame.heading("Why patches")
    frame.text(*texts.WHY_TEXT)
    sides = {str(side): f"{side} × {side}" for side in SIDES}
    side = int(controls.choice(NAME, "side", "Image", sides, "In pixels"))
    fitting = [patch for patch in PIXELS if side % patch == 0]
    rows = []
    for patch in fitting:
        tokens = ViTConfig(image=side, patch=patch, head="mean").tokens
        rows.append(
            [
                f"{patch} × {patch}" if patch > 1 else "single pixels",
                f"{tokens:,}",
                f"{tokens:,} × {tokens:,} = {tokens * tokens:,}",
                short(4 * tokens * tokens, "memory"),
            ]
        )
    cols = ("patches of", "tokens", "weights of one head", "at 4 bytes each")
    frame.show(tables.table(f"An image of {side} × {side} pixels", cols, rows))


def _parameters() -> None:
    """The parameters of a named network, part by part."""
    from models.cost.count import parts, total
    from models.presets import PRESETS

    frame.heading("How many parameters")
    frame.text(*texts.COUNT_TEXT)
    help = "Sizes that courses and papers name"
    name = controls.choice(NAME, "count", "Network", NETWORKS, help)
    found = parts(PRESETS[name].config)
    rows = [row for part in found for row in _rows(part)]
    frame.show(
        tables.table(PRESETS[name].title, ("part", "each", "copies", "in all"), rows),
        tables.facts(("all together", f"{total(found, 'parameters'):,}")),
    )
    _flatten()
    frame.explore("Part by part, in the Architecture page", "architecture", preset=name)


def _flatten() -> None:
    """The parameters of a head over all flattened patches, without building it."""
    from models.cost.count import parts, walk
    from models.cost.parts import size
    from models.presets import PRESETS

    found = parts(PRESETS["vit-raw-head"].config)
    layer = next(part for path, _, part in walk(found) if path == "head/layer_1")
    read, gives = size(layer.takes), size(layer.gives)
    frame.show(
        tables.facts(
            (
                f"first layer of a head that reads all patches ({PRESETS['vit-raw-head'].title})",
                f"{read:,} × {gives:,} = {read * gives:,} weights",
            )
        )
    )


def _rows(part: "Part") -> list[list[str]]:
    """The rows of a part with parameters, and of the components of a head or block."""
    if not part.parameters:
        return []
    inner = [row for each in part.parts for row in _leaf(each)] if part.parts else []
    own = [part.title, f"{part.parameters:,}", str(part.times), f"{part.times * part.parameters:,}"]
    return [own, *inner]


def _leaf(part: "Part") -> list[list[str]]:
    if not part.parameters:
        return []
    return [[f"– {part.title}", f"{part.parameters:,}", str(part.times), ""]]


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
