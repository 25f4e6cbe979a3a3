"""What the library itself computes: every softmax of its eager attention, by module."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from torch.overrides import TorchFunctionMode

from models.pretrained.passes import forward_options

SOFTMAX = {torch.softmax, torch.nn.functional.softmax, Tensor.softmax, torch.special.softmax}
FUSED = ("scaled_dot_product_attention", "multi_head_attention_forward")
SEED = 3  # of every pass: some models draw which patches they hide


@dataclass(eq=False)
class Pass(TorchFunctionMode):
    """A pass that runs inside, and what it left.

    Attributes:
        paths: of the model's modules.
        output: of the model.
        weights: of every softmax in an attention module, by the module's path, in order.
        kinds: the class of each of these modules.
        fused: classes of modules that call a fused kernel, which returns no weights.
        running: the modules that compute now, the innermost last.
    """

    paths: Mapping[nn.Module, str]
    output: Any = None
    weights: dict[str, list[Tensor]] = field(default_factory=lambda: defaultdict(list))
    kinds: dict[str, str] = field(default_factory=dict)
    fused: set[str] = field(default_factory=set)
    running: list[nn.Module] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        module = attending(self.running)
        if func in SOFTMAX and module is not None and result.ndim >= 3:
            path = self.paths.get(module, "?")
            self.weights[path].append(result.detach().float())
            self.kinds[path] = type(module).__name__
        elif getattr(func, "__name__", "") in FUSED:
            self.fused.add(type(module or self.running[-1]).__name__)
        return result


def attending(running: list[nn.Module]) -> nn.Module | None:
    """The attention that computes now: the innermost module with parts, if it is called so."""
    for module in reversed(running):
        name = type(module).__name__.lower()
        if "atten" in name or "attn" in name:
            return module
        if next(module.parameters(), None) is not None:
            return None
    return None


def run(model: nn.Module, inputs: Mapping[str, Any]) -> Any:
    """The output of one pass, without a key-value cache."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        return model(**{**forward_options(model), **inputs})


def watched(model: nn.Module, inputs: Mapping[str, Any]) -> Pass:
    """One pass of a model with eager attention.

    Raises:
        ValueError: if its weights are no numbers.
    """
    seen = Pass({module: path for path, module in model.named_modules()}, running=[model])

    def leave(*_: Any) -> None:
        seen.running.pop()

    entering = register_module_forward_pre_hook(lambda each, _: seen.running.append(each))
    leaving = register_module_forward_hook(leave, always_call=True)
    try:
        with seen:
            seen.output = run(model, inputs)
    finally:
        entering.remove()
        leaving.remove()
    if any(bool(each.isnan().any()) for calls in seen.weights.values() for each in calls):
        raise ValueError("the library's weights are NaN")
    return seen


def tensors(out: Any) -> Iterator[Tensor]:
    """Every tensor of an output."""
    if isinstance(out, Tensor):
        yield out
    elif isinstance(out, Mapping | tuple | list):
        for value in out.values() if isinstance(out, Mapping) else out:
            yield from tensors(value)
