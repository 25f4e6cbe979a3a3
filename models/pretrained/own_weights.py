"""Attention layers that compute their weights themselves, and return them when they are asked.

MPNet, DeBERTa, BLOOM and others do not look their attention up in the library's interface. Their
weights are those that the layers return (`output_attentions`), with the library's eager attention:
they can be looked at, not changed, and take heads × tokens² numbers a layer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from models.attention import Mask
from models.attention.given import GivenWeights, sums_note
from models.edits import at
from models.free_memory import SHARE, available_memory
from models.inputs.sequences import ModelInputs
from models.pretrained.attention_modules import AttentionModules, alive, parameters_of, source_of
from models.pretrained.recording import Axes, Call, Recording
from models.structure import hooked

ASKED = "output_attentions"
LOOK_ONLY = "{} computes its own weights: they can be looked at, not changed"
MIB = 2**20


class PerHead(TorchFunctionMode):
    """Inside, PyTorch's attention keeps the weights of each head in `weights`; it still returns
    their mean."""

    weights: Tensor | None = None

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func is not F.multi_head_attention_forward or not given.get("need_weights", True):
            return func(*args, **given)
        if not given.pop("average_attn_weights", True):
            return func(*args, **given, average_attn_weights=False)
        values, self.weights = func(*args, **given, average_attn_weights=False)
        return values, None if self.weights is None else self.weights.mean(-3)


@contextmanager
def own_weights(record: Recording) -> Iterator[None]:
    """Inside, the weights that layers return are recorded."""
    layers = [module for _, module in alive(record.modules.returners)]
    with ExitStack() as stack:
        mode = None
        if any("multi_head_attention_forward" in source_of(type(each)) for each in layers):
            mode = stack.enter_context(PerHead())
        returned = partial(_returned, record, mode)
        stack.enter_context(
            hooked([(e, asking_weights) for e in layers], [(e, returned) for e in layers])
        )
        yield


def asking_weights(
    module: nn.Module, args: tuple, kwargs: Mapping[str, Any]
) -> tuple[tuple, dict[str, Any]] | None:
    """The arguments, with the request for weights where the layer takes one."""
    names = parameters_of(type(module))
    if ASKED not in names:
        return None
    place = names.index(ASKED)
    if place < len(args):
        return (*args[:place], True, *args[place + 1 :]), dict(kwargs)
    return args, {**kwargs, ASKED: True}


def _returned(
    record: Recording,
    mode: PerHead | None,
    module: nn.Module,
    args: tuple,
    kwargs: Mapping[str, Any],
    output: Any,
) -> None:
    """Records the weights among what a layer returned, "batch head query key"; a layer that returns
    none is silent."""
    states = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)), None)
    entry, candidates = record.entry(module), output if isinstance(output, tuple | list) else ()
    if mode is not None and mode.weights is not None:
        candidates, mode.weights = (mode.weights,), None
    for each in candidates:
        if states is None or not _fits(each, states, cross=entry.cross):
            continue
        axes = record.axes(entry, GivenWeights(each), None)
        kind = "cross" if entry.cross else "causal" if _is_causal(each, axes) else "self"
        whole = GivenWeights(each, Mask(causal=kind == "causal"))
        if at(record.edits, entry.where(kind)):
            raise ValueError(LOOK_ONLY.format(type(module).__name__))
        record.calls.append(Call(entry, kind, record.with_padding(whole, axes), axes))
        return


def _fits(weights: Any, states: Tensor, *, cross: bool) -> bool:
    """Whether a tensor has a row for each query, of shares of each key."""
    if not isinstance(weights, Tensor) or weights.ndim != 4 or states.ndim != 3:
        return False
    (batch, _, queries, keys), square = weights.shape, weights.shape[2] == weights.shape[3]
    fits = (batch, queries) == states.shape[:2] and keys > 0 and (cross or square)
    return fits and weights.is_floating_point() and bool((weights >= 0).all())


def _is_causal(weights: Tensor, axes: Axes) -> bool:
    """Whether no token attends to a later one, padding aside."""
    places = [axes[0].positions_of(item).to(weights.device) for item in range(len(weights))]
    items = [each[:, place][:, :, place] for each, place in zip(weights, places, strict=True)]
    return max(map(len, places)) > 1 and not any(each.triu(1).any() for each in items)


def check_fits(name: str, modules: AttentionModules, config: Any, inputs: ModelInputs) -> None:
    """Raises ValueError where the weights of a pass would not fit into free memory."""
    longest = max((each.length for each in inputs.sequences.values()), default=0)
    needed, free = bytes_of(modules, config, longest, inputs.items), available_memory()
    if free is not None and needed > SHARE * free:
        raise ValueError(
            f"{name} computes its own weights: those of {longest} tokens would take"
            f" {needed / MIB:,.0f} MiB of memory, and {free / MIB:,.0f} MiB are free; give it a"
            " shorter input"
        )


def bytes_of(modules: AttentionModules, config: Any, tokens: int, items: int = 1) -> int:
    """Bytes of the weights of a pass in float32; 0 where layers compute none themselves."""
    heads = getattr(config.get_text_config(), "num_attention_heads", 1) if modules.returners else 0
    return 4 * len(modules.returners) * items * heads * tokens**2


def notes(name: str, calls: Sequence[Call]) -> tuple[str, ...]:
    """What is said of a pass whose weights layers returned."""
    given = [each.pattern.given for each in calls if isinstance(each.pattern, GivenWeights)]
    if not given:
        return ()
    size = sum(each.nbytes for each in given) / MIB
    return LOOK_ONLY.format(name) + f"; they take {size:,.1f} MiB", *sums_note(given)
