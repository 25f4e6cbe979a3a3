"""Converts attention modules of PyTorch that are in memory to our `VectorEncoder`.

`nn.MultiheadAttention`, `nn.TransformerEncoderLayer` and `nn.TransformerEncoder`. What has no place
in our network is refused by name, and both must give the same vectors for one sequence of noise.
"""

import copy
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.eval_mode import evaluating
from models.loading.convert.names import renamed
from models.seeding import Undrawn
from models.vector_encoder import VectorEncoder, VectorEncoderConfig

Attention, Layer, Stack = nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder
OPENED = (Attention, Layer, Stack)
REFUSED = (nn.Transformer, nn.TransformerDecoder, nn.TransformerDecoderLayer)
ROUNDING = 1e-4  # of the largest number: float32 through some dozen blocks, in another order
TOKENS = 7  # of the noise
ACTIVATIONS: tuple[tuple[Any, str], ...] = (
    *((F.relu, "relu"), (torch.relu, "relu"), (nn.ReLU, "relu"), (F.gelu, "gelu")),
    *((F.silu, "silu"), (nn.SiLU, "silu"), (torch.tanh, "tanh"), (nn.Tanh, "tanh")),
    *((torch.sigmoid, "sigmoid"), (nn.Sigmoid, "sigmoid"), (F.softplus, "softplus")),
)
NORMS = {
    True: ("before_attention", "before_feed_forward"),
    False: ("after_attention.norm", "after_feed_forward.norm"),
}


def is_torch(module: nn.Module) -> bool:
    """Whether the module, or what was compiled to it, is a transformer or attention of torch.nn."""
    return isinstance(original(module), (*OPENED, *REFUSED))


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
    if isinstance(module, REFUSED):
        raise _error(
            module,
            "it attends from one sequence to another; expected a MultiheadAttention, a"
            " TransformerEncoderLayer or a TransformerEncoder",
        )
    config, table = _read(module)
    try:
        ours, _ = renamed(_plain(module), table, str, None, "our VectorEncoder")
    except ValueError as error:
        raise _error(module, str(error)) from error
    with Undrawn():
        network = VectorEncoder(config).eval()
    sizes = network.state_dict()
    if wrong := [name for name, each in ours.items() if each.shape != sizes[name].shape]:
        raise _error(module, f"{wrong[0]} has another shape than in our VectorEncoder")
    weight = next(iter(ours.values()))
    network.to(device=weight.device, dtype=weight.dtype)
    if config.last_eps is not None:  # a norm without weights of its own leaves the features alone
        ours = nn.LayerNorm(config.dim).state_dict(prefix="norm.") | ours
    network.load_state_dict(ours)
    _check(module, network, weight)
    return network


def _error(module: nn.Module, reason: str) -> ValueError:
    return ValueError(f"{type(module).__name__} of PyTorch: {reason}")


# --- its settings -------------------------------------------------------------------------------


def _read(module: nn.Module) -> tuple[VectorEncoderConfig, dict[str, str]]:
    """Our config of the same sizes, and our name of each weight."""
    if isinstance(module, Attention):
        return _of_attention(module), _attention_names("", "blocks.0.attention.", module)
    if isinstance(module, Layer):
        return _of_layer(module), _layer_names("", 0, module)
    if not isinstance(module, Stack):
        raise _error(module, "expected a TransformerEncoder")
    configs: list[VectorEncoderConfig] = []
    table: dict[str, str] = {}
    for number, layer in enumerate(module.layers):
        if not isinstance(layer, Layer):
            raise _error(layer, f"layer {number}: expected a TransformerEncoderLayer")
        configs.append(_of_layer(layer))
        table |= _layer_names(f"layers.{number}.", number, layer)
    if not configs or any(config != configs[0] for config in configs):
        raise _error(module, "expected layers of the same sizes, norms and activation")
    norm = module.norm if isinstance(module.norm, nn.LayerNorm) else None
    if norm is not None:
        table |= {f"norm.{kind}": f"norm.{kind}" for kind in _kinds(norm)}
    last = None if norm is None else norm.eps
    return replace(configs[0], depth=len(configs), last_eps=last), table


def _of_attention(module: nn.MultiheadAttention) -> VectorEncoderConfig:
    """The config of one attention layer by itself."""
    if module.bias_k is not None or module.add_zero_attn:
        raise _error(module, "add_bias_kv or add_zero_attn adds a key that is no token")
    if module.in_proj_weight is None:
        raise _error(
            module,
            f"kdim {module.kdim} and vdim {module.vdim} are for keys of another sequence: expected"
            f" {module.embed_dim}, the width of the queries",
        )
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
    parts: list[Any] = [layer.norm1, layer.norm2, layer.linear1, layer.linear2]
    for part, kind in zip(parts, (nn.LayerNorm, nn.LayerNorm, nn.Linear, nn.Linear), strict=True):
        if not isinstance(part, kind) or part.weight is None:
            raise _error(layer, f"it has a {type(part).__name__}: expected a {kind.__name__}")
    return replace(
        _of_attention(layer.self_attn),
        mlp=layer.linear1.out_features,
        activation=_activation(layer),
        norm="pre" if layer.norm_first else "post",
        eps=layer.norm1.eps,
        bias=layer.linear1.bias is not None,
        attention_only=False,
    )


def _activation(layer: nn.TransformerEncoderLayer) -> str:
    """Our name for its activation."""
    given: Any = layer.activation
    if isinstance(given, nn.GELU):
        return "gelu_tanh" if given.approximate == "tanh" else "gelu"
    kind = type(given) if isinstance(given, nn.Module) else given
    name = next((name for known, name in ACTIVATIONS if known is kind), None)
    if name is None:
        known = ", ".join(dict.fromkeys(name for _, name in ACTIVATIONS))
        called = getattr(given, "__name__", type(given).__name__)
        raise _error(layer, f"activation: expected one of {known}, received {called}")
    return name


# --- its weights --------------------------------------------------------------------------------


def _kinds(module: Any) -> tuple[str, ...]:
    return tuple(name for name, _ in module.named_parameters(recurse=False))


def _attention_names(theirs: str, ours: str, module: Any) -> dict[str, str]:
    """Our names of the weights of one attention layer, whose projections stand apart."""
    names = {}
    for kind in ("weight", "bias"):
        if getattr(module, f"in_proj_{kind}") is not None:
            for part in ("query", "key", "value"):
                names[f"{theirs}{part}.{kind}"] = f"{ours}{part}.{kind}"
    return names | {
        f"{theirs}out_proj.{kind}": f"{ours}out.{kind}" for kind in _kinds(module.out_proj)
    }


def _layer_names(theirs: str, number: int, layer: nn.TransformerEncoderLayer) -> dict[str, str]:
    """Our names of the weights of one block."""
    block = f"blocks.{number}."
    names = _attention_names(f"{theirs}self_attn.", f"{block}attention.", layer.self_attn)
    first, second = NORMS[bool(layer.norm_first)]
    parts = {"linear1": "feed_forward.up", "linear2": "feed_forward.down"}
    for part, our in (parts | {"norm1": first, "norm2": second}).items():
        for kind in _kinds(getattr(layer, part)):
            names[f"{theirs}{part}.{kind}"] = f"{block}{our}.{kind}"
    return names


def _plain(module: nn.Module) -> dict[str, Tensor]:
    """Its weights, with the projections of queries, keys and values apart."""
    plain: dict[str, Tensor] = {}
    for name, each in module.state_dict().items():
        stem, packed, kind = name.rpartition("in_proj_")
        if packed:
            for part, piece in zip(("query", "key", "value"), each.chunk(3), strict=True):
                plain[f"{stem}{part}.{kind}"] = piece
        else:
            plain[name] = each
    return plain


# --- what it computes ---------------------------------------------------------------------------


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
