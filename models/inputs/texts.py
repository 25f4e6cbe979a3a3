"""Texts as tokens, and tokens of several items as one padded tensor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.text import Tokenizer, Tokens

if TYPE_CHECKING:
    from models.model import Model


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
        ValueError: for a model without a tokenizer, and for what is no text.
    """
    texts = source if isinstance(source, list) else [source]
    if tokenizer is None:
        raise ValueError(f"{name} has no tokenizer: give it ids, or load(tokenizer=...)")
    if not all(isinstance(text, str | tuple) for text in texts):
        raise ValueError(f"{name} reads text or ids, received {type(texts[0]).__name__}")
    pairs = (text if isinstance(text, tuple) else (text,) for text in texts)
    return check_texts(tuple(tokenizer.encode(*pair) for pair in pairs), what)


def check_texts(tokens: tuple[Tokens, ...], what: str) -> tuple[Tokens, ...]:
    """The tokens; ValueError for an item without any."""
    if not tokens or not all(map(len, tokens)):
        raise ValueError(f"{what} is empty: expected at least one token")
    return tokens


def padded(tokens: Sequence[Tokens], field: str = "ids", fill: int = 0) -> Tensor:
    """A field of the tokens, such as "segments", as `batch token`, filled up on the right."""
    rows = [torch.tensor(getattr(item, field)) for item in tokens]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=fill)


# --- of transformers ----------------------------------------------------------------------------


def text_config(config: Any) -> Any:
    """The config of the text that a network reads, which may have another for what it writes."""
    text_encoder = getattr(config, "text_encoder", None)
    return config.get_text_config() if text_encoder is None else text_encoder


def check_ids(model: "Model", ids: Tensor) -> None:
    """Raises ValueError for ids that are not in the vocabulary of a network."""
    count = getattr(text_config(model.network.config), "vocab_size", None)
    if count is not None and not 0 <= int(ids.min()) <= int(ids.max()) < count:
        raise ValueError(
            f"ids: expected 0 to {count - 1}, received {int(ids.min())} to {int(ids.max())}"
        )


def padded_ids(model: "Model", tokens: Sequence[Tokens]) -> tuple[Tensor, Tensor | None]:
    """Ids and the attention mask, which is None without padding."""
    fill = getattr(text_config(model.network.config), "pad_token_id", None) or 0
    ids = padded(tokens, fill=fill).to(model.device)
    counts = torch.tensor([[len(item)] for item in tokens])
    mask = (torch.arange(ids.shape[1]) < counts).long()
    return ids, None if mask.all() else mask.to(model.device)
