"""Example photos of the pretrained models, whose tours say what to look at.

Tests check every number against its model.
"""

from collections.abc import Mapping

from models.card import Example
from viz.pages.explore.example_texts import weight

DINOV2 = (
    Example(
        "A flower",
        "flower",
        **weight(0.12, layer=10, head=5, query=0, key=121),
    ),
    Example(
        "A temple",
        "china",
        **weight(0.10, layer=10, head=3, query=0, key=36),
    ),
    Example(
        "Coins",
        "coins",
        **weight(0.06, layer=11, head=2, query=0, key=170),
    ),
)
EXAMPLES: Mapping[str, tuple[Example, ...]] = {"dinov2": DINOV2}
