"""Pre-norm and post-norm at initialisation: activations and gradients by depth.

With post-norm all states have one size, and the gradient is largest in the last blocks: without a
warm-up the first steps of training are too large for them. With pre-norm the states grow with
depth, and the gradients are of one order (Xiong et al. 2020, section 3).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.encoder import Encoder, EncoderConfig


@dataclass(frozen=True, eq=False)
class Growth:
    """One pass through a stack and back, before the last norm.

    Attributes:
        sizes: root mean square of the states: the embedding, then what each block gives.
        gradients: length of the gradient of each block's feed-forward weights.
    """

    sizes: Float[Tensor, " state"]
    gradients: Float[Tensor, " layer"]


def last_gradient(norm: str, depth: int, *, draws: int = 4) -> float:
    """The mean length of the last block's gradient over some seeds; arguments as for `growth`."""
    found = [growth(norm, depth, seed=seed).gradients[-1] for seed in range(draws)]
    return float(torch.stack(found).mean())


def growth(norm: str, depth: int, *, dim: int = 32, tokens: int = 12, seed: int = 0) -> Growth:
    """Sizes of states and gradients in an untrained encoder.

    The loss is the mean square of the distance between the output and one that is drawn at random.

    Args:
        norm: "pre" or "post".
        depth: number of blocks.
        dim: width of the model.
        tokens: how many go in.
        seed: of weights, tokens and what is wanted.
    """
    config = EncoderConfig(
        vocab=97, dim=dim, depth=depth, heads=4, mlp=4 * dim, norm=norm, dropout=0.0, seed=seed
    )
    dice = torch.Generator().manual_seed(seed)
    ids = torch.randint(config.vocab, (4, tokens), generator=dice)
    wanted = torch.randn(4, tokens, dim, generator=dice)
    network = Encoder(config)
    out = network(ids)
    loss = (out.hidden - wanted).square().mean()
    names = [f"blocks.{layer}.feed_forward.down.weight" for layer in range(depth)]
    weights = [network.get_parameter(name) for name in names]
    with torch.enable_grad():
        found = torch.autograd.grad(loss, weights)
    sizes = torch.stack([state.detach().square().mean().sqrt() for state in out.states])
    return Growth(sizes, torch.stack([gradient.norm() for gradient in found]))
