"""Converts attention modules of PyTorch that are in memory to our `VectorEncoder`.

`nn.MultiheadAttention`, `nn.TransformerEncoderLayer` and `nn.TransformerEncoder`. What has no place
in our network is refused by name, and both must give the same vectors for one sequence of noise.
"""

import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from models.blocks import ACTIVATIONS
from models.files.errors import first_line
from models.seeding import Undrawn
from models.structure import evaluating
from models.vector_encoder import VectorEncoder, VectorEncoderConfig

Attention, Layer, Stack = nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder
OPENED = (Attention, Layer, Stack)
ROUNDING = 1e-4  # of the largest number: float32 through some dozen blocks, in another order
TOKENS = 7  # of the noise
NAMES = {  # parts of a block
    "self_attn.": "attention.",
    "out_proj.": "out.",
    "linear1.": "feed_forward.up.",
    "linear2.": "feed_forward.down.",
}
NORMS = {  # whether they come first
    True: {"norm1.": "before_attention.", "norm2.": "before_feed_forward."},
    False: {"norm1.": "after_attention.norm.", "norm2.": "after_feed_forward.norm."},
}


def is_torch(module: nn.Module) -> bool:
    """Whether the module, or what was compiled to it, is a transformer or attention of torch.nn."""
    return isinstance(original(module), OPENED)


def original(module: nn.Module) -> nn.Module:
    """The module that a compiled one was made from; another one as it is."""
    return getattr(module, "_orig_mod", module)


def paths_in(module: nn.Module) -> list[str]:
    """Paths of the outermost modules inside that can be opened, at most three."""
    paths: list[str] = []
    for path, part in module.named_modules():
        inner = any(path.startswith(f"{outer}.") for outer in paths)
        if isinstance(part, OPENED) and path and not inner:
            paths.append(path)
    return paths[:3]


def converted(module: nn.Module) -> VectorEncoder:
    """Our network with a copy of the module's numbers.

    Raises:
        ValueError: for weights without a place, and for a module that computes something else.
    """
    try:
        config = _config(module)
    except AttributeError as error:  # of parts that are other modules than PyTorch's own
        raise _error(module, first_line(error)) from error
    ours = _renamed(module, config)
    with Undrawn():
        network = VectorEncoder(config).eval()
    weight = next(iter(ours.values()))
    network.to(device=weight.device, dtype=weight.dtype)
    try:
        network.load_state_dict(ours)
    except RuntimeError as error:
        _, *problems = str(error).splitlines()
        what = problems[0].strip()
        raise _error(module, f"its weights do not fit our VectorEncoder: {what:.160}") from error
    _check(module, network, weight)
    return network


def _error(module: nn.Module, reason: str) -> ValueError:
    return ValueError(f"{type(module).__name__} of PyTorch: {reason}")


def _config(module: nn.Module) -> VectorEncoderConfig:
    """Our config of the same sizes."""
    if isinstance(module, Attention):
        return _of_attention(module)
    if isinstance(module, Layer):
        return _of_layer(module)
    layers: Any = module.layers
    configs = {_of_layer(layer) for layer in layers}
    if len(configs) != 1:
        raise _error(module, "expected layers of the same sizes, norms and activation")
    last = module.norm.eps if isinstance(module.norm, nn.LayerNorm) else None
    return replace(configs.pop(), depth=len(layers), last_eps=last)


def _of_attention(module: nn.MultiheadAttention) -> VectorEncoderConfig:
    """The config of one attention layer by itself."""
    return VectorEncoderConfig(
        module.embed_dim,
        depth=1,
        heads=module.num_heads,
        qkv_bias=module.in_proj_bias is not None,
        out_bias=module.out_proj.bias is not None,
        dropout=0.0,
        attention_only=True,
        token_first=not module.batch_first,
    )


def _of_layer(layer: nn.TransformerEncoderLayer) -> VectorEncoderConfig:
    """The config of one block."""
    given, numbers = layer.activation, torch.linspace(-4, 4, 99)
    same = (name for name, f in ACTIVATIONS.items() if f(numbers).allclose(given(numbers)))
    activation = next(same, None)
    if activation is None:
        known, called = ", ".join(ACTIVATIONS), getattr(given, "__name__", type(given).__name__)
        raise _error(layer, f"activation: expected one of {known}, received {called}")
    return replace(
        _of_attention(layer.self_attn),
        mlp=layer.linear1.out_features,
        activation=activation,
        norm="pre" if layer.norm_first else "post",
        eps=layer.norm1.eps,
        bias=layer.linear1.bias is not None,
        attention_only=False,
    )


def _renamed(module: nn.Module, config: VectorEncoderConfig) -> dict[str, Tensor]:
    """Its weights by our names, the projections of queries, keys and values apart."""
    inside = {Attention: "layers.0.self_attn.", Layer: "layers.0."}
    front = next((path for kind, path in inside.items() if isinstance(module, kind)), "")
    ours: dict[str, Tensor] = {}
    if config.last_eps is not None:  # a norm without weights of its own leaves the features alone
        ours = nn.LayerNorm(config.dim).state_dict(prefix="norm.")
    for name, each in module.state_dict(prefix=front).items():
        name = name.replace("layers.", "blocks.", 1)
        for theirs, our in (NAMES | NORMS[config.norm == "pre"]).items():
            name = name.replace(f".{theirs}", f".{our}")
        stem, packed, kind = name.partition("in_proj_")
        if packed:
            parts = zip(("query", "key", "value"), each.chunk(3), strict=True)
            ours |= {f"{stem}{part}.{kind}": piece for part, piece in parts}
        else:
            ours[name] = each
    return ours


@torch.no_grad()
def _check(module: nn.Module, network: VectorEncoder, weight: Tensor) -> None:
    """Raises ValueError unless both give the same vectors for a sequence of noise."""
    if weight.dtype in (torch.float16, torch.bfloat16):  # too coarse to tell
        module, network = copy.deepcopy(module).float(), copy.deepcopy(network).float()
        weight = weight.float()
    dice = torch.Generator().manual_seed(0)
    noise = torch.randn(1, TOKENS, network.config.dim, generator=dice).to(weight)
    given = noise.transpose(0, 1) if network.config.token_first else noise
    quiet = evaluating(module)
    theirs = quiet(given, given, given)[0] if isinstance(module, Attention) else quiet(given)
    theirs = theirs.transpose(0, 1) if network.config.token_first else theirs
    ours = network(noise).hidden
    apart, largest = float((ours - theirs).abs().max()), float(theirs.abs().max())
    if not apart <= ROUNDING * largest:
        raise _error(
            module,
            f"it computes something else than our VectorEncoder: its output differs by {apart:.1e},"
            f" and its largest number is {largest:.1e}",
        )
