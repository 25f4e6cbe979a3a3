"""Why patches, and how many parameters: the numbers of the lesson on vision transformers."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.lessons import cells, frame, tables
from viz.pages.lessons.vision import texts as vision_texts
from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.cost.parts import Part

NAME = "vision"
MODELS = {
    "vit-32": "256/32, width 1024",
    "vit-14": "224/14, width 128",
    "vit-b16": "ViT-B/16",
    "vit-conv": "224/16 by convolution",
    "vit-raw-head": "no class token",
}
SIDE, PIXELS = (28, 64, 224), (1, 2, 4, 7, 14, 28)
PARAMS = (
    link.choice("count", "vit-32", MODELS),
    link.choice("side", "28", [str(side) for side in SIDE]),
)


def why() -> None:
    """Tokens and weights for patches of every size."""
    from models.vit import ViTConfig
    from viz.architecture import short

    frame.heading("Why patches")
    frame.text(*vision_texts.WHY_TEXT)
    sides = {str(side): f"{side} × {side}" for side in SIDE}
    controls.choice(NAME, "side", "Image", sides, "In pixels")
    side = int(st.session_state[f"{NAME}_side"])
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
    titles = ("patches of", "tokens", "weights of one head", "at 4 bytes each")
    frame.show(cells.table(titles, rows, title=f"An image of {side} × {side} pixels"))


def counted() -> None:
    """The parameters of a named network, part by part."""
    from models.cost.count import parts, total
    from models.presets import PRESETS

    frame.heading("How many parameters")
    frame.text(*vision_texts.COUNT_TEXT)
    controls.choice(NAME, "count", "Network", MODELS, "Sizes that courses and papers name")
    name = st.session_state[f"{NAME}_count"]
    found = parts(PRESETS[name].config)
    rows = [row for part in found for row in _rows(part)]
    titles = ("part", "each", "copies", "in all")
    frame.show(
        cells.table(titles, rows, title=PRESETS[name].title),
        tables.facts(("all together", f"{total(found, 'parameters'):,}")),
    )
    _flatten()
    frame.explore("Part by part, in the Architecture page", "lab/architecture", preset=name)


def _flatten() -> None:
    """The head that reads all patches in a row, counted without building it."""
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
    """A part with something to learn, and what a head or block is made of."""
    if not part.parameters:
        return []
    inner = [row for each in part.parts for row in _leaf(each)] if part.parts else []
    own = [part.title, f"{part.parameters:,}", str(part.times), f"{part.times * part.parameters:,}"]
    return [own, *inner]


def _leaf(part: "Part") -> list[list[str]]:
    if not part.parameters:
        return []
    return [[f"– {part.title}", f"{part.parameters:,}", str(part.times), ""]]
