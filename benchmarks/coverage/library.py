"""What the library itself computes: every softmax of its eager attention, by module."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from models.pretrained.passes import forward_options

SOFTMAX = {torch.softmax, torch.nn.functional.softmax, Tensor.softmax, torch.special.softmax}
FUSED = ("scaled_dot_product_attention", "multi_head_attention_forward")
SEED = 3  # of every pass: some models draw which patches they hide


@dataclass(eq=False)
class Pass:
    """What a pass left.

    Attributes:
        output: of the model.
        weights: of every softmax in an attention module, by the module's path, in order.
        kinds: the class of each of these modules.
        fused: classes of modules that call a fused kernel, which returns no weights.
    """

    output: Any = None
    weights: dict[str, list[Tensor]] = field(default_factory=lambda: defaultdict(list))
    kinds: dict[str, str] = field(default_factory=dict)
    fused: set[str] = field(default_factory=set)


class Softmaxes(TorchFunctionMode):
    """Inside, every softmax of the attention that runs is kept in a `Pass`."""

    def __init__(self, seen: Pass, stack: list[nn.Module], paths: Mapping[nn.Module, str]) -> None:
        super().__init__()
        self.seen, self.stack, self.paths = seen, stack, paths

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        module = attending(self.stack)
        if func in SOFTMAX and module is not None and result.ndim >= 3:
            path = self.paths.get(module, "?")
            self.seen.weights[path].append(result.detach().float())
            self.seen.kinds[path] = type(module).__name__
        elif getattr(func, "__name__", "") in FUSED:
            self.seen.fused.add(type(module or self.stack[-1]).__name__)
        return result


def attending(stack: list[nn.Module]) -> nn.Module | None:
    """The attention that computes now: the innermost module with parts, if it is called so."""
    for module in reversed(stack):
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
    seen, stack, hooks = Pass(), [model], []

    def leave(*_: Any) -> None:
        stack.pop()

    for module in model.modules():
        hooks.append(module.register_forward_pre_hook(lambda each, _: stack.append(each)))
        hooks.append(module.register_forward_hook(leave, always_call=True))
    try:
        with Softmaxes(seen, stack, {module: path for path, module in model.named_modules()}):
            seen.output = run(model, inputs)
    finally:
        for hook in hooks:
            hook.remove()
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
