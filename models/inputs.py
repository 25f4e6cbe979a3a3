"""What a caller gives, as what a network takes: text or ids for an encoder, images for a ViT."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.loading import Model
from models.look import look_of
from models.text import Tokens
from models.trace import padding_of
from models.vit import ViT

if TYPE_CHECKING:
    from PIL.Image import Image

Text = str | tuple[str, str]
Pixels = Float[Tensor, "batch channel row col"]
Input = Text | list[str] | list[Text] | Int[Tensor, "batch token"] | Pixels | Path


@dataclass(frozen=True, eq=False)
class Inputs:
    """One input, ready to run.

    Attributes:
        arguments: what the network's forward takes.
        tokens: one entry per item of the batch.
        grid: rows and columns of patches; None for text.
        prefix: how many tokens stand in front of the patches.
        notes: what was done to the input on the way.
    """

    arguments: dict[str, Any]
    tokens: tuple[Tokens, ...]
    grid: tuple[int, int] | None = None
    prefix: int = 0
    notes: tuple[str, ...] = field(default=())


def inputs_of(model: Model, source: "Input | Image") -> Inputs:
    """The input as this model takes it.

    Raises:
        ValueError: for an input the model cannot read.
    """
    if isinstance(model.network, ViT):
        return _of_image(model, model.network, source)
    return _of_text(model, source)


# --- text ---------------------------------------------------------------------------------------


def _of_text(model: Model, source: Any) -> Inputs:
    tokens = _tokens(model, source)
    ids, padding, segments = _batch(tokens, model.device)
    return Inputs({"ids": ids, "padding": padding, "segments": segments}, tokens)


def _tokens(model: Model, source: Any) -> tuple[Tokens, ...]:
    if isinstance(source, Tensor) and source.is_floating_point():
        raise ValueError(f"{model.name} reads text or ids: expected whole numbers, received pixels")
    if isinstance(source, Tensor):
        tokens = tuple(Tokens.of_ids(row) for row in source.tolist())
    else:
        texts = source if isinstance(source, list) else [source]
        if model.tokenizer is None:
            raise ValueError(f"{model.name} has no tokenizer: give it ids, or load(tokenizer=...)")
        read = model.tokenizer.encode
        tokens = tuple(read(t) if isinstance(t, str) else read(*t) for t in texts)
    if not tokens or not all(len(item) for item in tokens):
        raise ValueError("the input is empty: expected at least one token")
    longest = max(len(item) for item in tokens)
    if longest > model.limit:
        raise ValueError(f"{model.name} reads at most {model.limit} tokens, received {longest}")
    config: Any = model.network.config
    worst = max(max(item.ids) for item in tokens), min(min(item.ids) for item in tokens)
    if worst[0] >= config.vocab or worst[1] < 0:
        raise ValueError(
            f"ids: expected 0 to {config.vocab - 1}, received {worst[1]} to {worst[0]}"
        )
    kinds = config.segments
    segment = max(max(item.segments) for item in tokens)
    if kinds and segment >= kinds:
        raise ValueError(f"{model.name} tells {kinds} texts apart, received {segment + 1}")
    return tokens


def _batch(
    tokens: tuple[Tokens, ...], device: torch.device
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Ids, padding and segments as tensors, filled up to the longest item."""
    longest = max(len(item) for item in tokens)
    ids = torch.zeros(len(tokens), longest, dtype=torch.long)
    segments = torch.zeros_like(ids)
    for row, item in enumerate(tokens):
        ids[row, : len(item)] = torch.tensor(item.ids)
        segments[row, : len(item)] = torch.tensor(item.segments)
    padding = padding_of(tokens)
    return (
        ids.to(device),
        None if padding is None else padding.to(device),
        segments.to(device),
    )


# --- images -------------------------------------------------------------------------------------


def _of_image(model: Model, network: ViT, source: Any) -> Inputs:
    pixels, notes = _pixels(model, network, source)
    pixels = pixels.to(model.device, next(network.parameters()).dtype)
    rows, cols = network.patches.grid(pixels.shape)
    prefix = network.config.prefix
    tokens = Tokens.of_patches(prefix, rows, cols)
    more = network.positions.note((rows, cols))
    return Inputs(
        {"pixels": pixels},
        (tokens,) * len(pixels),
        (rows, cols),
        len(prefix),
        (*notes, *((more,) if more else ())),
    )


def _pixels(model: Model, network: ViT, source: Any) -> tuple[Tensor, tuple[str, ...]]:
    """Pixels `batch channel row col`, and what was done to get them."""
    if isinstance(source, Tensor):
        if source.ndim != 4 or not source.is_floating_point() or not len(source):
            raise ValueError(
                f"{model.name} reads pixels: expected floats, batch channel row col,"
                f" received {source.dtype} {tuple(source.shape)}"
            )
        return source, ()
    from models.image import fit_image, open_image, to_pixels

    picture = open_image(Path(source) if isinstance(source, str) else source)
    look = look_of(network.config) if model.look is None else model.look
    image, note = fit_image(picture, *look.size, how=look.how)
    notes = (*picture.notes, *((note,) if note else ()))
    return to_pixels(image, look.mean, look.std), notes
