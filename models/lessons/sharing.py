"""Weight sharing in an encoder–decoder, and the scalings `emb`, `prj` and `none`.

One matrix serves as target embedding and as output projection. Embeddings should have numbers near
1, or the positions added to them dominate; a projection of width d should have numbers near 1/√d,
so that logits are near 1. Multiplying embeddings by √d, or logits by 1/√d, reconciles the two
(Vaswani et al. 2017, section 3.4).
"""

from dataclasses import dataclass

import torch

from models.cost.count import parts, total
from models.positional import sinusoidal
from models.seq2seq import Seq2Seq, Seq2SeqConfig

TOKENS = 12  # of source and target


@dataclass(frozen=True)
class Shared:
    """Effect of sharing and scaling on one untrained network.

    Attributes:
        parameters: of the whole network.
        matrices: number of distinct vocab × dim matrices.
        weights: standard deviation of the target embedding matrix.
        embeddings: standard deviation of the embedded tokens, after scaling.
        positions: standard deviation of the positions added to them.
        logits: standard deviation of the logits.
    """

    parameters: int
    matrices: int
    weights: float
    embeddings: float
    positions: float
    logits: float


def shared(config: Seq2SeqConfig) -> Shared:
    """Measures one untrained network."""
    network = Seq2Seq(config).eval()
    dice = torch.Generator().manual_seed(0)
    low = max(config.padding, config.begin, config.end) + 1
    source, target = (
        torch.randint(low, vocab, (2, TOKENS), generator=dice)
        for vocab in (config.source_vocab, config.target_vocab)
    )
    with torch.no_grad():
        logits = network(source, target).logits
    weights = network.embedding.tokens.weight.detach()[low:]
    factor = config.dim**0.5 if config.embed_scale else 1.0
    return Shared(
        parameters=total(parts(config, TOKENS, TOKENS), "parameters"),
        matrices=3 - int(config.share_target) - int(config.share_source),
        weights=float(weights.std()),
        embeddings=float(weights.std()) * factor,
        positions=float(sinusoidal(TOKENS, config.dim).std()),
        logits=float(logits.std()),
    )
