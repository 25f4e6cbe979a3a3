"""Example photos of the pretrained models, with hints on where to look.

Tests check every number against its model.
"""

from collections.abc import Mapping

from models.card import Example
from viz.pages.explore.example_texts import weight

DINOV2 = (
    Example(
        "A flower",
        "flower",
        "Layer 10, head 5: the class token looks at the heart of the flower. One patch has 0.12 of"
        " its attention, 33 times an even share. Layer 11, head 0 covers the petals to their edge.",
        **weight(0.12, layer=10, head=5, query=0, key=121),
    ),
    Example(
        "A temple",
        "china",
        "Layer 10, head 3: the class token looks at the top of the temple’s roof. One patch has"
        " 0.10 of its attention, 28 times an even share.",
        **weight(0.10, layer=10, head=3, query=0, key=36),
    ),
    Example(
        "Coins",
        "coins",
        "Layer 11, head 2: the coins light up one by one, and what lies between them stays"
        " dark. One patch has 0.06 of the class token’s attention, 15 times an even share.",
        **weight(0.06, layer=11, head=2, query=0, key=170),
    ),
)
EXAMPLES: Mapping[str, tuple[Example, ...]] = {"dinov2": DINOV2}
