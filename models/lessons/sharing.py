"""Weight sharing in an encoder–decoder, and the scalings `emb`, `prj` and `none`.

One matrix serves as target embedding and as output projection. An embedding wants numbers near 1,
so that positions do not drown it; a projection of width d wants numbers near 1/√d, so that logits
are near 1. Multiplying embeddings by √d, or logits by 1/√d, lets one matrix be both
(Vaswani et al. 2017, section 3.4).
"""

from dataclasses import dataclass

import torch

from models.cost.count import parts, total
from models.positional import sinusoidal
from models.seq2seq import Seq2Seq, Seq2SeqConfig


@dataclass(frozen=True)
class Shared:
    """Effect of sharing and scaling on one untrained network.

    Attributes:
        parameters: of the whole network.
        matrices: how many different ones of vocab × dim it has.
        weights: deviation of the target embedding's numbers.
        embeddings: deviation of what is looked up, once it is scaled.
        positions: deviation of the positions that are added to it.
        logits: their deviation.
    """

    parameters: int
    matrices: int
    weights: float
    embeddings: float
    positions: float
    logits: float


def shared(config: Seq2SeqConfig, *, tokens: int = 12, seed: int = 0) -> Shared:
    """Counts and measures one network.

    Args:
        config: of it.
        tokens: how many are read, and written.
        seed: of which ones.
    """
    network = Seq2Seq(config).eval()
    dice = torch.Generator().manual_seed(seed)
    low = max(config.padding, config.begin, config.end) + 1
    source, target = (
        torch.randint(low, vocab, (2, tokens), generator=dice)
        for vocab in (config.source_vocab, config.target_vocab)
    )
    with torch.no_grad():
        logits = network(source, target).logits
    weights = network.embedding.tokens.weight.detach()[low:]
    factor = config.dim**0.5 if config.embed_scale else 1.0
    return Shared(
        parameters=total(parts(config, tokens, tokens), "parameters"),
        matrices=3 - int(config.share_target) - int(config.share_source),
        weights=float(weights.std()),
        embeddings=float(weights.std()) * factor,
        positions=float(sinusoidal(tokens, config.dim).std()),
        logits=float(logits.std()),
    )
