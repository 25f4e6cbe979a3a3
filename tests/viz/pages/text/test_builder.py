"""The builder offers what the models can do."""

from models.blocks import BLOCKS
from models.positional import POSITIONS
from viz.pages.text import builder


def test_every_kind_of_position_and_block_is_offered() -> None:
    assert builder.POSITIONS == POSITIONS
    assert builder.NORMS == tuple(BLOCKS)
