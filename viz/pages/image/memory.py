"""Whether a network fits the memory of this machine, told before it is built."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viz.pages.image.picture import ViTChoice

GIB = 2**30
SHARE = 0.8  # of what is free; the rest is the browser's and other people's


def check(choice: ViTChoice) -> None:
    """Raises ValueError if a traced pass would not fit, and names a size that would."""
    room = available()
    if choice.model != "built" or room is None or needed(choice) <= SHARE * room:
        return
    smaller = fitting(choice, SHARE * room)
    offer = f": image size {smaller} would fit" if smaller else ": make dim or depth smaller"
    raise ValueError(
        f"this needs about {needed(choice) / GIB:.1f} GiB of memory and {room / GIB:.1f} GiB are"
        f" free{offer}"
    )


def needed(choice: ViTChoice) -> int:
    """Predicted peak of one traced pass, in bytes."""
    from models.cost.memory import memory_needed
    from models.vit import ViTConfig

    return memory_needed(ViTConfig(**choice.sizes))


def fitting(choice: ViTChoice, room: float) -> int | None:
    """The largest smaller image size, in whole patches, that fits."""
    sizes = range(choice.size - choice.patch, choice.patch - 1, -choice.patch)
    return next((size for size in sizes if needed(replace(choice, size=size)) <= room), None)


def available() -> int | None:
    """Free memory in bytes, as far as the system tells."""
    from models.cost.memory_check import available_memory

    return available_memory()
