"""The architecture of a model with random weights: what a trained one is compared with."""

from dataclasses import fields, is_dataclass, replace

import torch

from models.model import Model


def untrained(model: Model, seed: int = 0) -> Model:
    """The same network, tokenizer and settings with weights drawn anew, as its library draws them.

    Args:
        model: is left as it is; the other runs on its device, in its dtype.
        seed: of the weights; PyTorch's own generator is left as it was.

    Raises:
        ValueError: for a network without a config that it is made from.
    """
    network = model.network
    config = getattr(network, "config", None)
    if config is None:
        raise ValueError(f"{model.name} states no config from which it could be made anew")
    if is_dataclass(config) and any(field.name == "seed" for field in fields(config)):
        config = replace(config, seed=seed)  # pyright: ignore[reportArgumentType]
    weights = next(network.parameters())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        drawn = type(network)(config)
    drawn = drawn.to(device=weights.device, dtype=weights.dtype).eval()
    return replace(model, network=drawn, trained=False, left_out=())
