"""Judges a trace by the library's own eager attention: every map, the output, what is hidden."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
from models.trace import Site, Trace

AIM = 1e-4  # float32, two layers, scores up to 50
ROWS = 512  # compared at most, of a map whose rows the library computes in another order
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


class MismatchError(Exception):
    """A difference between a trace and the library."""


def weights_apart(trace: Trace, expected: Pass) -> float:
    """The largest difference of any weight that is shown to the library's own.

    Raises:
        MismatchError: for a map without counterpart, and for one that is neither shown nor named.
    """
    sites: dict[str, list[Site]] = defaultdict(list)
    for site in trace.sites:
        sites[str(site.module)].append(site)
    hidden = {expected.kinds[path] for path in expected.weights.keys() - sites.keys()}
    notes = " ".join(trace.notes).replace("Sdpa", "")  # the same layer's class with eager attention
    silent = sorted(kind for kind in hidden | expected.fused if kind not in notes)
    if silent:
        raise MismatchError(f"the softmax of {', '.join(silent)} is neither shown nor named")
    apart = [0.0]
    for path, here in sites.items():
        calls = expected.weights.get(path, [])
        if not calls or len(here) not in (1, len(calls)):
            raise MismatchError(f"{path}: {len(here)} maps for {len(calls)} calls of the library")
        parts = [calls] if len(here) == 1 else [[call] for call in calls]
        apart += [site_apart(trace, *pair) for pair in zip(here, parts, strict=True)]
    return max(apart)


def site_apart(trace: Trace, site: Site, calls: Sequence[Tensor]) -> float:
    """The largest difference of one site's weights.

    Items are compared one by one; where the library cuts its input otherwise (into windows), each
    row with the nearest of the library's.
    """
    mine = [trace.weights(site, item=item) for item in range(len(trace.queries(site)))]
    theirs = [each[..., : site.keys] for call in calls for each in call.flatten(0, -4)]  # no sink
    if any(len(each) != site.heads for each in theirs):
        raise MismatchError(f"{site.module}: {len(theirs[0])} heads are {site.heads}")
    sizes = [(each.shape, array.shape) for each, array in zip(theirs, mine, strict=False)]
    whole = all(all(a >= b for a, b in zip(*pair, strict=True)) for pair in sizes)
    if len(mine) != len(theirs) or not whole:
        return max(any_rows(each, theirs) for each in mine)
    return max(
        map_apart(map_here, each, trace.positions(site, item))
        for item, (map_here, each) in enumerate(zip(mine, theirs, strict=True))
    )


def map_apart(mine: Tensor, theirs: Tensor, positions: tuple[Tensor, Tensor]) -> float:
    """The largest difference of one item's map `head query key`, whose padding a trace leaves out.

    Raises:
        MismatchError: if rows or columns that the library uses are not shown.
    """
    rows, keys = positions
    part = theirs[:, rows][:, :, keys]
    if part.shape != mine.shape:
        raise MismatchError(f"{tuple(mine.shape)} of the library's {tuple(theirs.shape)} are shown")
    lost = float((theirs[:, rows].sum(-1) - part.sum(-1)).abs().max())
    if lost > AIM:
        raise MismatchError(f"columns that hold up to {lost:.1e} of a row are not shown")
    return float((mine - part).abs().max()) if mine.numel() else 0.0


def any_rows(mine: Tensor, theirs: Sequence[Tensor]) -> float:
    """The largest distance of a row to the nearest of the library's, their weights sorted."""
    width = max(each.shape[2] for each in (mine, *theirs))

    def ordered(rows: Tensor) -> Tensor:
        filled = torch.nn.functional.pad(rows, (0, width - rows.shape[-1]))
        return filled.sort(-1, descending=True).values

    some = ordered(mine[:, :: max(1, mine.shape[1] // ROWS)])
    every = torch.cat([ordered(each) for each in theirs], 1)
    return float(torch.cdist(some, every, p=torch.inf).min(-1).values.max())


def output_apart(trace: Trace, untouched: Any, inputs: Mapping[str, Any]) -> float:
    """The largest difference to the untouched model's output, over the largest number in it.

    Raises:
        MismatchError: if the untouched model has no such output.
    """
    mine, mask = trace.output.values, inputs.get("attention_mask")
    apart = []
    for theirs in tensors(untouched):
        if theirs.shape != mine.shape or not theirs.is_floating_point():
            continue
        off, scale = (mine - theirs).abs(), theirs.abs()
        if isinstance(mask, Tensor) and mine.shape[:2] == mask.shape:
            off, scale = off[mask.bool()], scale[mask.bool()]
        largest = max(1.0, float(scale.nan_to_num(0.0).max()))
        apart.append(float(off.nan_to_num(0.0).max()) / largest)
    if not apart:
        raise MismatchError(f"no output of the library is {tuple(mine.shape)}")
    return min(apart)
