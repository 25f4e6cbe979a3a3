"""Pre-norm and post-norm at initialisation: activations and gradients by depth.

With post-norm, hidden states keep a constant size and gradients are largest in the last blocks:
without warm-up the first training steps are too large for them. With pre-norm, hidden states grow
with depth and gradients have similar sizes in all blocks (Xiong et al. 2020, section 3).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.encoder import Encoder, EncoderConfig

DIM, TOKENS = 32, 12  # width of the model, and length of the input
DRAWS = 4  # seeds of a mean


@dataclass(frozen=True, eq=False)
class Growth:
    """Statistics of one forward and backward pass, before the final norm.

    Attributes:
        sizes: root mean square of the hidden states: the embedding, then each block's output.
        gradients: norm of the gradient of each block's feed-forward weights.
    """

    sizes: Float[Tensor, " state"]
    gradients: Float[Tensor, " layer"]


def last_gradient(norm: str, depth: int) -> float:
    """Mean gradient norm of the last block over several seeds; arguments as for `growth`."""
    gradients = [growth(norm, depth, seed=seed).gradients[-1] for seed in range(DRAWS)]
    return float(torch.stack(gradients).mean())


def growth(norm: str, depth: int, *, seed: int = 0) -> Growth:
    """Sizes of hidden states and gradients in an untrained encoder.

    The loss is the mean squared error against a random target.

    Args:
        norm: "pre" or "post".
        depth: number of blocks.
        seed: of the weights, the tokens and the target.
    """
    config = EncoderConfig(
        vocab=97, dim=DIM, depth=depth, heads=4, mlp=4 * DIM, norm=norm, dropout=0.0, seed=seed
    )
    dice = torch.Generator().manual_seed(seed)
    ids = torch.randint(config.vocab, (4, TOKENS), generator=dice)
    wanted = torch.randn(4, TOKENS, DIM, generator=dice)
    network = Encoder(config)
    out = network(ids)
    loss = (out.hidden - wanted).square().mean()
    names = [f"blocks.{layer}.feed_forward.down.weight" for layer in range(depth)]
    weights = [network.get_parameter(name) for name in names]
    with torch.enable_grad():
        gradients = torch.autograd.grad(loss, weights)
    sizes = torch.stack([state.detach().square().mean().sqrt() for state in out.states])
    return Growth(sizes, torch.stack([gradient.norm() for gradient in gradients]))
