"""Edits of the input of transformers models, made before the network runs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Int
from PIL import Image as Pillow
from torch import Tensor

from models.attention import Edit
from models.attention.edit_protocols import OrderEdit, PixelsEdit
from models.inputs.caches import cached_tokens
from models.inputs.pretrained import IMAGE, ModelInputs, forward_arguments
from models.inputs.sequences import InputSequence, text_sequence

if TYPE_CHECKING:
    from models.model import Model

SOURCE = ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids")
TARGET = ("decoder_input_ids", "decoder_attention_mask")
PLACES = "position_ids"


def edited(model: "Model", inputs: ModelInputs, edits: Sequence[Edit]) -> ModelInputs:
    """The input with the edits of inputs, in order.

    Raises:
        ValueError: for one that is of another kind of input, or leaves nothing.
    """
    for edit in edits:
        name = "target" if getattr(edit, "target", False) else "text"
        if isinstance(edit, OrderEdit) and name in inputs.sequences:
            inputs = _reordered(model, inputs, edit, inputs.sequences[name])
        elif isinstance(edit, PixelsEdit):
            inputs = _repainted(model, inputs, edit)
        else:
            raise ValueError(f"{edit}: {model.name} reads no {name} here")
    return inputs


def edited_image(
    image: Pillow.Image, edits: Iterable[object], grid: tuple[int, int]
) -> Pillow.Image:
    """A preprocessed picture as the network reads it after the edits of its pixels.

    Means and blurs of colours are those of normalised numbers, which are a scale of them.

    Args:
        image: cut into patches.
        edits: of any kind.
        grid: rows and columns of patches.
    """
    changes = [edit for edit in edits if isinstance(edit, PixelsEdit)]
    if not changes:
        return image
    pixels = torch.from_numpy(np.array(image.convert("RGB"), np.float32)).movedim(-1, 0)[None]
    for edit in changes:
        pixels = edit.edit_pixels(pixels, grid)
    levels = pixels[0].movedim(0, -1).round().clamp(0, 255).to(torch.uint8)
    return Pillow.fromarray(levels.numpy())


def _repainted(model: "Model", inputs: ModelInputs, edit: PixelsEdit) -> ModelInputs:
    pixels, image = inputs.arguments.get(IMAGE), inputs.sequences.get("image")
    grid = None if image is None else image.grid
    if not isinstance(pixels, Tensor) or pixels.ndim != 4 or grid is None:
        raise ValueError(f"{edit}: {model.name} reads no picture here whose patches are known")
    repainted = edit.edit_pixels(pixels, (grid.rows, grid.cols))
    return replace(inputs, arguments={**inputs.arguments, IMAGE: repainted})


def _reordered(
    model: "Model", inputs: ModelInputs, edit: OrderEdit, sequence: InputSequence
) -> ModelInputs:
    """The input with an item's own tokens in another order, or without some of them."""
    names = TARGET if edit.target else SOURCE
    ids = inputs.arguments.get(names[0])
    if not isinstance(ids, Tensor) or ids.ndim != 2 or cached_tokens(inputs.arguments):
        raise ValueError(f"{edit}: expected ids of tokens, without a cache")
    if sequence.layout is not None or inputs.parts:
        raise ValueError(f"{edit}: expected a text without pictures, whose places are fixed")
    orders = [edit.edit_order(len(item)) for item in sequence.tokens]
    if not all(orders):
        raise ValueError(f"{edit}: expected at least one token to be left")
    columns = torch.stack(_columns(sequence, orders)).to(ids.device)
    reordered = dict(inputs.arguments)
    for name, value in inputs.arguments.items():
        if isinstance(value, Tensor) and value.shape == ids.shape:
            if name in names:
                reordered[name] = value.gather(1, columns)
            elif name == PLACES and not edit.target:
                reordered[name] = value[:, : columns.shape[1]]
            elif name not in (*SOURCE, *TARGET):
                raise ValueError(f"{edit}: {model.name} reads {name} for each token as well")
    pairs = zip(sequence.tokens, orders, strict=True)
    tokens = [item.picked(order) for item, order in pairs]
    mask = None if sequence.positions is None else reordered.get(names[1])
    moved = text_sequence(sequence.name, reordered[names[0]], mask, tokens)
    sequences = {**inputs.sequences, sequence.name: moved}
    answer = inputs.answer  # the place of a token, which moves with those before it
    if answer is not None and not edit.target:
        answer = sum(place < answer for place in orders[0])
    return replace(inputs, arguments=reordered, sequences=sequences, answer=answer)


def _columns(
    sequence: InputSequence, orders: Sequence[Sequence[int]]
) -> list[Int[Tensor, " column"]]:
    """Of each item, which columns of its tensors stay, its padding where it was."""
    longest, columns = max(map(len, orders)), []
    for item, order in enumerate(orders):
        whole = torch.arange(sequence.length)
        places = whole if sequence.positions is None else sequence.positions[item]
        padding = whole[~torch.isin(whole, places)][: longest - len(order)]
        mine = places[torch.tensor(order)]
        before = bool(len(padding)) and int(padding[0]) < int(places[0])
        columns.append(torch.cat([padding, mine] if before else [mine, padding]))
    return columns


# --- positions -----------------------------------------------------------------------------------


def with_positions(model: "Model", inputs: ModelInputs, edits: Sequence[Any]) -> ModelInputs:
    """The input with the positions that edits give its tokens.

    Raises:
        ValueError: for a model that is not told positions, or counts further than it has any.
    """
    edit, text = edits[0], inputs.sequences.get("text")
    ids = inputs.arguments.get("input_ids")
    tells = PLACES in forward_arguments(model.network)
    if not tells or text is None or not isinstance(ids, Tensor) or ids.ndim != 2:
        raise ValueError(f"{edit}: {model.name} takes no position_ids for a text")
    if len({*inputs.sequences} - {"text"}) or cached_tokens(inputs.arguments):
        raise ValueError(f"{edit}: expected a text alone, without a cache")
    given = inputs.arguments.get(PLACES)
    places = torch.arange(ids.shape[1], device=ids.device).expand_as(ids).clone()
    if isinstance(given, Tensor) and given.ndim == 2:
        places = given.expand_as(ids).clone()
    for item, row in enumerate(places):
        real = torch.arange(len(row)) if text.positions is None else text.positions[item]
        for each in edits:
            row[real] = each.edit_positions(row[real])
    if int(places.max()) >= model.limit:
        raise ValueError(
            f"{edit}: expected positions 0 to {model.limit - 1}, received {int(places.max())}"
        )
    # without a mask the library takes positions that do not rise for several packed texts
    mask = {"attention_mask": torch.ones_like(ids)} if text.positions is None else {}
    return replace(inputs, arguments={**mask, **inputs.arguments, PLACES: places})
