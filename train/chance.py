"""Random inputs with random answers, on which any network scores as chance does."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.model import Config
from models.patches import pair
from models.seq2seq import Seq2SeqConfig
from models.vit import ViTConfig
from train.task import Batch

Noise = tuple[int, ...]  # the seed of an item


@dataclass(frozen=True)
class Chance:
    """Noise for a network, answered at random: nothing can be learned from it.

    Attributes:
        config: of the network, which must give logits.
        tokens: in a text, or in the source.
        target: in the decoder of an encoder–decoder.
    """

    config: Config
    tokens: int = 16
    target: int = 16

    def draw(self, dice: Random) -> Noise:
        return (dice.getrandbits(40),)

    def key(self, item: Noise) -> str:
        return str(item)

    def batch(self, items: Sequence[Noise]) -> Batch:
        dice = torch.Generator().manual_seed(sum(number for (number,) in items))
        count, config = len(items), self.config

        def ids(high: int, length: int, low: int = 0) -> Tensor:
            return torch.randint(low, high, (count, length), generator=dice)

        if isinstance(config, ViTConfig):
            shape = (count, config.channels, *pair(config.image))
            pixels = torch.randn(shape, generator=dice)
            return Batch({"pixels": pixels}, ids(config.layers[-1], 1))
        if isinstance(config, Seq2SeqConfig):
            least = 1 + config.padding
            into = {
                "source": ids(config.source_vocab, self.tokens, least),
                "target": ids(config.target_vocab, self.target, least),
            }
            return Batch({**into}, ids(config.target_vocab, self.target))
        if isinstance(config, DecoderConfig):
            return Batch({"ids": ids(config.vocab, self.tokens)}, ids(config.vocab, self.tokens))
        if isinstance(config, EncoderConfig) and config.classes:
            return Batch({"ids": ids(config.vocab, self.tokens)}, ids(config.classes, self.tokens))
        raise ValueError(f"expected a network with logits, received {type(config).__name__}")
