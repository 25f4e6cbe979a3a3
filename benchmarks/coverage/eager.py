"""What the library itself computes: every call of its eager attention, and every other softmax.

The functions that attention layers look up are wrapped while a model runs, and `softmax` is
intercepted, so that attention which bypasses the interface is seen as well. Of fused attention,
which returns no weights, they are computed from what the kernel is given.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers import AttentionInterface

from models.pretrained.passes import forward_options

SOFTMAX = {torch.softmax, torch.nn.functional.softmax, Tensor.softmax, torch.special.softmax}
UNUSED = {"Sam2MultiScaleAttention"}  # has a softmax over heads whose result it drops
SEED = 3  # of every pass: some models draw which patches they hide
FUSED = (
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
    "_native_multi_head_attention",
)


@dataclass(frozen=True)
class Call:
    """One call of attention.

    Attributes:
        path: of the module that attends.
        kind: its class.
        weights: `batch head query key`.
        eager: whether the library's eager function made them.
        places: token of each slot of each window of an image, −1 outside of it, where the library
            cuts images into shifted windows.
    """

    path: str
    kind: str
    weights: Tensor
    eager: bool = True
    places: Tensor | None = None


@dataclass(eq=False)
class Seen:
    """What a pass left.

    Attributes:
        output: of the model.
        calls: of attention through the library's interface.
        others: softmax weights of attention that bypasses it, with path and class.
        fused: classes of modules that call a fused kernel directly.
        elsewhere: classes of other modules with a softmax: routers, gates, heads.
    """

    output: Any = None
    calls: list[Call] = field(default_factory=list)
    others: list[Call] = field(default_factory=list)
    fused: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)


class _Softmaxes(TorchFunctionMode):
    def __init__(
        self,
        seen: Seen,
        stack: list[nn.Module],
        paths: Mapping[int, str],
        sizes: Mapping[int, tuple[int, int]],
    ) -> None:
        super().__init__()
        self.seen, self.stack, self.paths, self.sizes = seen, stack, paths, sizes
        self.inside: list[Tensor] | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in SOFTMAX:
            if self.inside is not None:
                self.inside.append(result)
            else:
                self._beside(result)
        elif getattr(func, "__name__", "") == FUSED[0] and self.inside is not None:
            self.inside.append(fused_weights(*args, **(kwargs or {})))
        elif getattr(func, "__name__", "") in FUSED and self.inside is None:
            self.seen.fused.add(type(attending(self.stack) or self.stack[-1]).__name__)
        return result

    def _beside(self, weights: Tensor) -> None:
        module = attending(self.stack)
        if type(module).__name__ in UNUSED:
            return
        if module is None or weights.ndim < 3:
            self.seen.elsewhere.add(type(self.stack[-1]).__name__)
            return
        path, kind = self.paths.get(id(module), "?"), type(module).__name__
        places = windows_of(self.stack, self.sizes)
        call = Call(path, kind, weights.detach(), places=places)
        (self.seen.others if places is None else self.seen.calls).append(call)


def fused_weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """The weights that `scaled_dot_product_attention` does not return, by its documentation."""
    key = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
    scores = query.float() @ key.float().mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -torch.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask.float()
    return torch.softmax(scores, -1).nan_to_num(0.0)


def attending(stack: list[nn.Module]) -> nn.Module | None:
    """The attention that computes now: the innermost module with parts, if it is called so."""
    for module in reversed(stack):
        name = type(module).__name__.lower()
        if "atten" in name or "attn" in name:
            return module
        if next(module.parameters(), None) is not None:
            return None
    return None


def places_of(block: Any, size: tuple[int, int]) -> Tensor:
    """Where the library's own functions put the tokens of an image, `window slot`; −1 is outside.

    Args:
        block: a layer of Swin.
        size: rows and columns of tokens.
    """
    numbers = torch.arange(1.0, 1 + size[0] * size[1]).view(1, *size, 1)
    filled, _ = block.maybe_pad(numbers, *size)
    partition = sys.modules[type(block).__module__].window_partition
    if hasattr(block, "cyclic_shift"):
        shifted = block.cyclic_shift(filled)
    else:
        shifted = filled.roll((-block.shift_size, -block.shift_size), (1, 2))
    return partition(shifted, block.window_size).flatten(1).long() - 1


def windows_of(stack: list[nn.Module], sizes: Mapping[int, tuple[int, int]]) -> Tensor | None:
    """`places_of` the block that runs now; None outside of shifted windows."""
    block = next((part for part in reversed(stack) if id(part) in sizes), None)
    return None if block is None else places_of(block, sizes[id(block)])


@contextmanager
def watched(model: nn.Module, seen: Seen) -> Iterator[None]:
    """Inside, `seen` collects every call of attention of the model."""
    paths = {id(module): path for path, module in model.named_modules()}
    stack: list[nn.Module] = [model]
    sizes: dict[int, tuple[int, int]] = {}
    mode = _Softmaxes(seen, stack, paths, sizes)
    interface: Any = AttentionInterface
    looked_up = interface.get_interface

    def get_interface(self: Any, name: str, default: Any) -> Any:
        function = looked_up(self, name, default)

        def attention(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            mode.inside, before = [], mode.inside
            try:
                out = function(module, *args, **kwargs)
            finally:
                inside, mode.inside = mode.inside, before
            weights = out[1] if isinstance(out, tuple) and len(out) > 1 else None
            if weights is None:
                weights = inside[-1] if inside else None
            if weights is not None:
                path, eager = paths.get(id(module), "?"), name in ("eager", None)
                places = windows_of(stack, sizes)
                call = Call(path, type(module).__name__, weights.detach(), eager, places)
                seen.calls.append(call)
            return out

        return attention

    def left(*_: Any) -> None:
        stack.pop()

    def entered(module: nn.Module, args: tuple, keywords: dict[str, Any]) -> None:
        stack.append(module)
        if hasattr(module, "shift_size") and hasattr(module, "maybe_pad"):
            rows, cols = keywords.get("input_dimensions", *args[1:2])
            sizes[id(module)] = int(rows), int(cols)

    hooks = []
    for module in model.modules():
        hooks.append(module.register_forward_pre_hook(entered, with_kwargs=True))
        hooks.append(module.register_forward_hook(left, always_call=True))
    interface.get_interface = get_interface
    try:
        with mode:
            yield
    finally:
        interface.get_interface = looked_up
        for hook in hooks:
            hook.remove()


def arguments(model: nn.Module, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs, and no key-value cache where the model has one."""
    return {**forward_options(model), **inputs}


def eager(model: nn.Module, inputs: Mapping[str, Any]) -> Seen:
    """One pass of a model, built with eager attention or another."""
    seen = Seen()
    with torch.no_grad(), watched(model, seen), torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        seen.output = model(**arguments(model, inputs))
    return seen


def tensors(out: Any) -> Iterator[Tensor]:
    """Every tensor of an output."""
    if isinstance(out, Tensor):
        yield out
    elif isinstance(out, Mapping):
        for value in out.values():
            yield from tensors(value)
    elif isinstance(out, tuple | list):
        for value in out:
            yield from tensors(value)
