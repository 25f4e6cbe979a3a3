"""A network of ours before it runs: shapes, parameters, FLOPs and memory, from its config alone.

It runs on the meta device, where tensors have shapes and no numbers, and take no memory. PyTorch
works most shapes out there by rules in Python, which import its compiler: that takes seconds.
`ByShape` knows the few that our networks need.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from models.attention import Additive, Pattern
from models.attention.functional import PASS_BYTES
from models.layer import AttentionLayerConfig
from models.model import BUILT, Config
from models.seeding import Undrawn
from models.seq2seq import Seq2SeqConfig
from models.ssru import TranslatorConfig
from models.vector_encoder import VectorEncoderConfig
from models.vit import ViTConfig, pair
from viz.build.answers import ShapesEntry
from viz.build.picture import Picture
from viz.build.recording import Network

SAME = frozenset(  # operations whose result is as large as their first tensor
    {"layer_norm", "rms_norm", "batch_norm", "dropout", "sqrt", "square", "neg", "abs", "log"}
    | {"gelu", "relu", "silu", "tanh", "sigmoid", "softplus", "leaky_relu"}
)
BROADCAST = frozenset(  # as large as all of them together
    {"add", "sub", "mul", "div", "true_divide", "pow", "__radd__", "__rmul__", "__rsub__"}
)
NUMBER = 4  # bytes of a float32
OVERHEAD = 1.3  # measured: memory fragmentation
NOT_HERE = (TranslatorConfig, VectorEncoderConfig)


def shapes(config: Config, tokens: int = 16, target: int = 16) -> Picture:
    """The picture of a network without numbers, for one item.

    Args:
        config: of the network; a vision transformer's image size comes from its config.
        tokens: input length of an encoder, decoder, or encoder of an encoder–decoder.
        target: input length of the decoder of an encoder–decoder.

    Raises:
        ValueError: for no tokens, or more than the network's maximum; for another kind of network.
    """
    if isinstance(config, NOT_HERE):
        raise ValueError(f"there are no shapes of a {type(config).__name__}")
    check_input(config, tokens, target)
    _, network = BUILT[type(config)]
    with torch.device("meta"), Undrawn():
        root = network(config)
        inputs = _inputs(config, tokens, target)
    root.eval()
    outputs: list[Any] = []

    def run() -> None:
        with ByShape():
            outputs[:] = [root(*inputs)]

    sites = [site.module for site in root.sites]
    network = Network(root, run, sites, [site.kind for site in root.sites])
    _ = network.whole
    return Picture(network, outputs[0].patterns)


class ByShape(TorchFunctionMode):
    """Inside, operations on the meta device return tensors of the right shape."""

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
        name, first = getattr(func, "__name__", ""), args[0] if args else None
        if isinstance(first, torch.Tensor) and first.is_meta:
            if name in SAME:
                return _empty(first.shape, first.dtype)
            if name in BROADCAST:
                kind = torch.result_type(first, next(iter(tensors[1:]), args[-1]))
                kind = kind if kind.is_floating_point or "div" not in name else torch.float32
                return _empty(np.broadcast_shapes(*(each.shape for each in tensors)), kind)
            if name == "linear":
                return _empty((*first.shape[:-1], args[1].shape[0]))
            if name == "scaled_dot_product_attention":
                return _empty((*first.shape[:-1], args[2].shape[-1]))
            if name == "mean":
                gone = {axis % first.ndim for axis in _axes(args[1:], kwargs)}
                keeps = kwargs.get("keepdim", False)
                sizes = [1 if n in gone else s for n, s in enumerate(first.shape)]
                return _empty(s for n, s in enumerate(sizes) if keeps or n not in gone)
        if name in ("cat", "concat") and first and first[0].is_meta:
            axis = (args[1] if len(args) > 1 else kwargs.get("dim", 0)) % first[0].ndim
            sizes = list(first[0].shape)
            sizes[axis] = sum(each.shape[axis] for each in first)
            return _empty(sizes)
        return func(*args, **kwargs)


def _empty(sizes: Iterable[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*sizes, dtype=dtype, device="meta")


def _axes(rest: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    axes = kwargs.get("dim", rest[0] if rest else ())
    return (axes,) if isinstance(axes, int) else tuple(axes)


def shapes_entry(config: Config, tokens: int = 16, target: int = 16) -> ShapesEntry:
    """The same, as a result that the browser can ask about; arguments as for `shapes`."""
    return ShapesEntry(shapes(config, tokens, target))


def check_input(config: Config, tokens: int, target: int) -> None:
    """Raises ValueError for no tokens, or more than the network has room for."""
    if isinstance(config, ViTConfig):
        return
    for name, count in (("tokens", tokens), ("target", target)):
        if not 1 <= count <= config.max_tokens:
            raise ValueError(f"{name}: expected 1 to {config.max_tokens}, received {count}")


def _inputs(config: Config, tokens: int, target: int) -> tuple[torch.Tensor, ...]:
    if isinstance(config, ViTConfig):
        return (torch.empty(1, config.channels, *pair(config.image)),)
    ids = torch.empty(1, tokens, dtype=torch.long)
    if isinstance(config, Seq2SeqConfig | AttentionLayerConfig):
        return ids, torch.empty(1, target, dtype=torch.long)
    return (ids,)


def peak_memory(config: Config, tokens: int = 16, target: int = 16) -> int:
    """The predicted peak of a traced pass of one item in bytes, weights included.

    A trace keeps queries, keys and values of every layer and the hidden states between blocks, plus
    the largest intermediate result of one block. Attention weights, and biases of positions, are
    formed only where the fused kernel needs them, and then in blocks. One block stands for all.
    """
    depth = getattr(config, "depth", 1)
    one: Any = replace(config, depth=1) if "depth" in vars(config) else config
    picture = shapes(one, tokens, target)
    network = picture.network
    parameters, of_blocks = (
        sum(each.numel() for module in modules for each in module.parameters())
        for modules in ((network.root,), network.blocks.values())
    )
    kept = sum(p.q.numel() + p.k.numel() + p.v.numel() for p in picture.patterns)
    kept += sum(call.gives[0].numel() for call in network.whole if call.path in network.blocks)
    weights = max((_formed(p) for p in picture.patterns), default=0)
    activations = NUMBER * (depth * kept + 2 * network.widest)
    activations += 3 * min(PASS_BYTES, NUMBER * weights)
    return NUMBER * (parameters + (depth - 1) * of_blocks) + round(OVERHEAD * activations)


def _formed(pattern: Pattern) -> int:
    """How many weights, biases or masks a pass forms beside the fused kernel."""
    is_plain = pattern.mask.only_causal or pattern.mask.same_for_all_rows
    if pattern.path == "fused" and pattern.bias is None and is_plain:
        return 0
    width = pattern.score.width if isinstance(pattern.score, Additive) else 1
    return pattern.heads * pattern.queries * pattern.keys * width
