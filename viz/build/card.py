"""What a card of the picture holds: boxes in their order, or matrices."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers of a card.

    Attributes:
        name: within its card.
        title: for readers.
        values: the numbers, of one item.
        rows: what its rows are: "token", "key", "feature" or "row".
        shares: whether they go from 0 to 1.
        cols: what its columns are: "feature", or "token" or "class" of logits.
    """

    name: str
    title: str
    values: Tensor
    rows: str = "token"
    shares: bool = False
    cols: str = "feature"


@dataclass(frozen=True, eq=False)
class Item:
    """A box of a card, or what stands between two.

    Attributes:
        kind: "box", "layers", "heads", or one of the kinds of a `Relation`.
        title: for readers.
        opens: address of its card; "" for none.
        shape: of what it gives, without the batch.
        parameters: that it learns.
        flops: of its matrix products in this pass.
        of: the names of what it joins; of a box, of what it reads.
        tower: the stack that it belongs to, where there are several.
        values: what it gives; None where that is no matrix, or has no numbers.
        inner: the layers, or the heads.
    """

    kind: str
    title: str
    opens: str = ""
    shape: tuple[int, ...] = ()
    parameters: int = 0
    flops: int = 0
    of: tuple[str, ...] = ()
    tower: str = ""
    values: Tensor | None = None
    inner: tuple["Item", ...] = ()


@dataclass(frozen=True, eq=False)
class Card:
    """An opened box.

    Attributes:
        address: of the card.
        title: for readers.
        description: what it does, in one sentence.
        items: boxes in the order of their calls; () of a single part.
        matrices: of a single part, or of a head, from left to right.
        joins: what stands between them, such as "·" and "=".
        rows: labels of its tokens.
        keys: labels of a head's keys.
        shape: of what it gives.
        parameters: that it learns.
        flops: of its matrix products in this pass.
        source: the class whose code runs; None for what is no module.
        closed: why its inside is not shown; "" where it is.
        pixels: "channel row col" that it reads, of a picture; None for other inputs.
        cuts: rows and columns of patches that it cuts them into.
    """

    address: str
    title: str
    description: str = ""
    items: tuple[Item, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    joins: tuple[str, ...] = ()
    rows: Sequence[str] = ()
    keys: Sequence[str] = ()
    shape: tuple[int, ...] = ()
    parameters: int = 0
    flops: int = 0
    source: type | None = None
    closed: str = ""
    pixels: Tensor | None = None
    cuts: tuple[int, int] = (1, 1)
