"""Input sequences of a model: text, image patches, audio frames, or decoder targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from models.inputs.layout import Layout
from models.picture_grid import Part, PictureGrid
from models.text import Tokenizer, Tokens, tokens_of_ids
from models.trace import PatchGrid, Sound


@dataclass(frozen=True, eq=False)
class InputSequence:
    """One input sequence.

    Attributes:
        tokens: one entry per item.
        length: padded length.
        positions: positions of each item's tokens; None means the first ones.
        layout: of image or sound tokens; None for others.
        pictures: where tokens lie on pictures, one entry per item; () if nowhere.
        image_tokens: of each item those that stand for pictures but have no places on them; ()
            without any.
    """

    tokens: tuple[Tokens, ...]
    length: int
    positions: tuple[Int[Tensor, "_"], ...] | None = None
    layout: Layout | None = None
    pictures: tuple[tuple[PictureGrid, ...], ...] = ()
    image_tokens: tuple[tuple[int, ...], ...] = ()

    @property
    def grid(self) -> PatchGrid | None:
        """Where the patches lie; None for tokens that are none."""
        return None if self.layout is None else self.layout.grid


InputSequences = Mapping[str, InputSequence]


@dataclass(eq=False)
class ModelInputs:
    """One prepared input.

    Attributes:
        arguments: keyword arguments of forward.
        sequences: by name: "text", "image", "sound" and, of decoders, "target".
        notes: how the input was changed, for display.
        parts: what the vision tower sees of the pictures of a prompt.
        answer: place of the first token after a prompt; None for other inputs.
        sound: the recordings, if their length is known.
    """

    arguments: dict[str, Any]
    sequences: dict[str, InputSequence] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    answer: int | None = None
    sound: Sound | None = None

    @property
    def main(self) -> InputSequence:
        """The sequence that it consists of, where there is one beside a target."""
        return next(iter(self.sequences.values()))

    @property
    def target_tokens(self) -> tuple[Tokens, ...] | None:
        """What the decoder of an encoder–decoder reads, one entry per item."""
        target = self.sequences.get("target")
        return None if target is None else target.tokens

    @property
    def items(self) -> int:
        """Batch size."""
        if self.sequences:
            return len(self.main.tokens)
        sizes = [len(x) for x in self.arguments.values() if isinstance(x, Tensor) and x.ndim]
        return sizes[0] if sizes else 1


def text_sequence(
    ids: Int[Tensor, "batch token"],
    mask: Tensor | None,
    tokens: Sequence[Tokens] = (),
    tokenizer: Tokenizer | None = None,
) -> InputSequence:
    """A text sequence.

    Args:
        ids: padding included.
        mask: 0 at padding; None without any.
        tokens: one entry per item; () reads them from the ids.
        tokenizer: decodes ids; None labels them with their numbers.
    """
    real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask.bool()
    real = real.cpu()
    real_places = tuple(row.nonzero().flatten() for row in real)
    if not tokens:
        pairs = zip(ids.cpu(), real_places, strict=True)
        tokens = [tokens_of_ids(row[places].tolist(), tokenizer) for row, places in pairs]
    return InputSequence(tuple(tokens), ids.shape[1], None if real.all() else real_places)


def layout_sequence(layout: Layout, items: int) -> InputSequence:
    """The tokens of a layout, for so many items."""
    return InputSequence(layout.tokens(items), layout.length, layout=layout)


def named_tokens(labels: Sequence[str], *, special: bool = True) -> Tokens:
    count = len(labels)
    ids = tuple(range(count))
    return Tokens(ids, tuple(labels), (special,) * count, (0,) * count, (None,) * count)
