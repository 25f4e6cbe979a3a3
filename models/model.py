"""A network that is ready to be traced, and what such networks are."""

from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.preprocessing import Preprocessing
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.simple import Smallest, SmallestConfig
from models.text import Tokenizer
from models.vit import ViT, ViTConfig

Network = Encoder | Decoder | Seq2Seq | ViT | Smallest
Config = EncoderConfig | DecoderConfig | Seq2SeqConfig | ViTConfig | SmallestConfig
Door = Literal["own", "transformers"]


@dataclass(frozen=True, eq=False)
class Model:
    """A network that is ready to be traced.

    Attributes:
        name: what views call it.
        network: the module, in eval mode: one of ours, or the library's own.
        tokenizer: turns text into ids; None if the model only reads ids.
        trained: whether the weights come from training or from a seed.
        left_out: weights of the checkpoint that are no part of the network.
        preprocessing: how it wants its images; None if it reads text.
        target_tokenizer: turns text into ids for the decoder of an encoder–decoder; None if it
            only reads ids there.
        door: whose code the network is: "own", or "transformers".
        max_tokens: the most tokens it reads, where its config does not say so.
    """

    name: str
    network: Any
    tokenizer: Tokenizer | None
    trained: bool
    left_out: tuple[str, ...] = field(default=(), repr=False)
    preprocessing: Preprocessing | None = None
    target_tokenizer: Tokenizer | None = None
    door: Door = "own"
    max_tokens: int | None = None

    @property
    def limit(self) -> int:
        """The most tokens it reads; for images, what the size it is built for comes to."""
        if self.max_tokens is not None:
            return self.max_tokens
        config = self.network.config
        return config.tokens if isinstance(config, ViTConfig) else config.max_tokens

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device
