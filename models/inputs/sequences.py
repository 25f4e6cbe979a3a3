"""Input sequences of a model: text, image patches, audio frames, or decoder targets; texts as
tokens, and tokens of several items as one padded tensor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Int
from torch import Tensor

from models.inputs.layout import Layout
from models.picture_grid import Part, PictureGrid
from models.text import Tokenizer, Tokens, tokens_of_ids
from models.trace import PatchGrid, Sound

if TYPE_CHECKING:
    from models.model import Model


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


def read_texts(
    name: str, source: Any, tokenizer: Tokenizer | None, what: str = "the input"
) -> tuple[Tokens, ...]:
    """Tokenises a text, a pair of texts (a tuple), or a list of either.

    Args:
        name: of the model, for the error.
        source: the texts.
        tokenizer: None for a model without one.
        what: the source is, likewise.

    Raises:
        ValueError: for a model without a tokenizer, for what is no text, and for an empty one.
    """
    texts = source if isinstance(source, list) else [source]
    if tokenizer is None:
        raise ValueError(f"{name} has no tokenizer: give it ids, or load(tokenizer=...)")
    if not all(isinstance(text, str | tuple) for text in texts):
        raise ValueError(f"{name} reads text or ids, received {type(texts[0]).__name__}")
    pairs = (text if isinstance(text, tuple) else (text,) for text in texts)
    return check_tokens(tuple(tokenizer.encode(*pair) for pair in pairs), what)


def check_tokens(tokens: tuple[Tokens, ...], what: str = "the input") -> tuple[Tokens, ...]:
    """The tokens; ValueError for an item without any."""
    if not tokens or not all(map(len, tokens)):
        raise ValueError(f"{what} is empty: expected at least one token")
    return tokens


def padded(tokens: Sequence[Tokens], field: str = "ids", fill: int = 0) -> Tensor:
    """A field of the tokens, such as "segments", as `batch token`, filled up on the right."""
    rows = [torch.tensor(getattr(item, field)) for item in tokens]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=fill)


def padded_ids(model: "Model", tokens: Sequence[Tokens]) -> tuple[Tensor, Tensor | None]:
    """Ids, and where they are padding; None without any."""
    ids = padded(tokens, fill=_setting(model, "pad_token_id", "padding") or 0)
    counts = torch.tensor([[len(item)] for item in tokens])
    padding = torch.arange(ids.shape[1]) >= counts
    return ids.to(model.device), padding.to(model.device) if padding.any() else None


def check_ids(model: "Model", ids: Tensor, side: str = "") -> None:
    """Checks the ids of a side, "target" or else the source.

    Raises:
        ValueError: for anything but ids `batch token` of its vocabulary, and for more than the
            model reads; targets of transformers have other limits.
    """
    if ids.is_floating_point():
        raise ValueError(f"{model.name} reads text or ids: expected whole numbers, received pixels")
    what = f"{side} ids".lstrip()
    if ids.ndim != 2:
        raise ValueError(f"{what}: expected batch token, received {tuple(ids.shape)}")
    if not ids.numel():
        raise ValueError(f"{side or 'the input'} is empty: expected at least one token")
    if ids.shape[1] > model.limit and (model.door == "own" or not side):
        most = f"reads at most {model.limit} tokens, received {ids.shape[1]}"
        raise ValueError(f"{side and f'{side}: '}{model.name} {most}")
    count = _setting(model, "vocab_size", f"{side or 'source'}_vocab", "vocab")
    least, most = int(ids.min()), int(ids.max())
    if count is not None and not 0 <= least <= most < count:
        raise ValueError(f"{what}: expected 0 to {count - 1}, received {least} to {most}")


def text_config(config: Any) -> Any:
    """The config of the text that a network reads, which may have another for what it writes."""
    text_encoder = getattr(config, "text_encoder", None)
    return config.get_text_config() if text_encoder is None else text_encoder


def _setting(model: "Model", *names: str) -> int | None:
    """The first of these settings that the config of a network's text states."""
    config: Any = model.network.config
    config = config if model.door == "own" else text_config(config)
    return next((value for n in names if (value := getattr(config, n, None)) is not None), None)
