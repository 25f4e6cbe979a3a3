"""What is written around a figure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

SECONDS = re.compile(r"\d+\.\d+ s")  # a label of a moment


@dataclass(frozen=True)
class Caption:
    """Title and caption.

    Attributes:
        title: above the figure: model, layer, head.
        lines: below it: what it shows, the input, the version.
        written: whether title and lines are drawn; otherwise the file has them as metadata.
    """

    title: str
    lines: tuple[str, ...]
    written: bool = True


def noun_of(labels: Sequence[str]) -> str:
    """What a position of an axis is: a moment of a recording, or a token."""
    return "moment" if are_moments(labels) else "token"


def are_moments(labels: Sequence[str]) -> bool:
    """Whether tokens are moments of a recording."""
    return bool(labels) and SECONDS.fullmatch(labels[0]) is not None
