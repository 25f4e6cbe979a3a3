"""The settings of a positional encoding, and what is computed of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

BESIDE = {
    "sinusoidal": "sinusoidal",
    "learned": "learned",
    "rotary": "rotary",
    "alibi": "ALiBi",
    "relative": "T5 relative (random)",
    "none": "none",
}


@dataclass(frozen=True)
class Encoding:
    """The settings of a positional encoding.

    Attributes:
        scheme: one of "sinusoidal", "learned", "grid", "rotary", "alibi", "relative", "compare".
        length: number of positions.
        width: of the model, or of one head for rotary.
        base: of the wavelengths.
        rows: of the patch grid.
        cols: of the patch grid.
        heads: for the biases.
        causal: whether keys after the query are hidden.
        trained: whether learned positions are MiniLM's rather than random.
        seed: of random tables.
        device: of MiniLM.
    """

    scheme: str
    length: int
    width: int
    base: float
    rows: int
    cols: int
    heads: int
    causal: bool
    trained: bool
    seed: int
    device: str


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean, smallest and largest value at each distance."""

    distance: "np.ndarray"
    mean: "np.ndarray"
    low: "np.ndarray"
    high: "np.ndarray"
