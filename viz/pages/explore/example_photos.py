"""Example photos of the pretrained models, with hints on where to look.

Tests check every number against its model.
"""

from collections.abc import Mapping

from models.card import Example

DINOV2 = (
    Example(
        "A flower",
        "flower",
        "Layer 10, head 5: the class token looks at the heart of the flower. One patch has 0.12 of"
        " its attention, 33 times an even share. Layer 11, head 0 covers the petals to their edge.",
        kind="self",
        layer=10,
        head=5,
        query=0,
        key=121,
        weight=0.12,
    ),
    Example(
        "A temple",
        "china",
        "Layer 10, head 3: the class token looks at the top of the temple’s roof. One patch has"
        " 0.10 of its attention, 28 times an even share.",
        kind="self",
        layer=10,
        head=3,
        query=0,
        key=36,
        weight=0.10,
    ),
    Example(
        "Coins",
        "coins",
        "Layer 11, head 2: the coins light up one by one, and what lies between them stays"
        " dark. One patch has 0.06 of the class token’s attention, 15 times an even share.",
        kind="self",
        layer=11,
        head=2,
        query=0,
        key=170,
        weight=0.06,
    ),
)
EXAMPLES: Mapping[str, tuple[Example, ...]] = {"dinov2": DINOV2}
