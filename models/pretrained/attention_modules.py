"""Finds the attention modules of a network: path, tower, and the block each belongs to.

Towers are told apart by the first part of their paths that differs: `text_model.…` and
`vision_model.…`, `encoder.…` and `decoder.…`.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Any
from weakref import ref

from torch import nn
from transformers import PretrainedConfig

from models.pretrained.windows import recipe_of
from models.structure import once

NO_LAYERS = ("torch.nn.modules.module", "transformers.modeling_utils")
COMPUTES = re.compile(r"[sS]oftmax(\.apply)?\(|scaled_dot_product|multi_head_attention_forward")
# Arguments of attention layers that hold the states keys are made from, if they are others.
KEYS = ("key_value_states", "encoder_hidden_states", "cross_attention_states", "context")
KEYS += ("context_hidden_states", "keys", "key", "key_tensor", "k")
RETURNS = re.compile(r"output_attentions|return \(?\w+, ")  # weights beside values
BOUNDARIES = "cu_seq_lens_q="  # by which a class passes those of packed sequences
CALL = "attention_interface("
DIGITS = re.compile(r"(?<![^.])\d+(?![^.])")  # parts of a path that are numbers
SUFFIX = re.compile(r"_(model|tower|stack|module)$")


Weak = Mapping[str, ref[nn.Module]]  # modules by path


@dataclass(frozen=True)
class AttentionModule:
    """An attention layer of a network.

    Attributes:
        path: dotted name in the network.
        tower: name of the tower; None if there is only one.
        layer: number of its block in its stack; of nested stacks, counted through all of them.
        kind: name of its class.
        above: paths of the modules that contain stacks of attention layers, this one among them,
            innermost first.
    """

    path: str
    tower: str | None
    layer: int
    kind: str = ""
    above: tuple[str, ...] = ()

    @cached_property
    def rivals(self) -> str:
        """The path without its numbers, which the layers of other blocks share."""
        return "".join(each for each in self.path if not each.isdigit())


@dataclass(frozen=True, eq=False)
class AttentionModules:
    """The attention layers of a network, and what else of it a trace follows.

    Attributes:
        modules: by the id of the module.
        untraceable: class names of attention layers whose weights cannot be recorded.
        overlapping: whether the areas of a picture that its convolutions read overlap.
        attention: the layers of whose run more is needed than their call of the interface tells.
        alone: ids of the others.
        recipes: layers whose recipe is built from their modules.
        returners: layers that compute their weights themselves, of a network with no others.
        containers: the modules that contain stacks of layers.
        windows: blocks that cut an image into windows.
        towers: those that pack images whose patches they merge.
        configs: in which its parts look their attention up.
        packed: ids of those whose attention runs over packed sequences.
    """

    modules: dict[int, AttentionModule]
    untraceable: tuple[str, ...]
    overlapping: bool
    attention: Weak
    alone: frozenset[int]
    recipes: Weak
    returners: Weak
    containers: Weak
    windows: Weak
    towers: Weak
    configs: Sequence[PretrainedConfig]
    packed: frozenset[int]

    @staticmethod
    @once
    def find_in(network: nn.Module) -> "AttentionModules":
        """Finds them by their classes: those that use the attention interface, and window layers
        whose recipe can be built; in a network without either, those that compute weights."""
        every = dict(network.named_modules())
        kinds = {path: type(module) for path, module in every.items()}
        traced = {p: recipe_of(k) is not None or uses_interface(k) for p, k in kinds.items()}
        untraced = {path: every[path] for path, used in traced.items() if used is False}
        returners = {p: each for p, each in untraced.items() if RETURNS.search(source_of(kinds[p]))}
        within = {path: every[path] for path, used in traced.items() if used} or returners
        returners = returners if within is returners else {}
        towers, above = _towers([*within]), _containers(within)
        layers = _layers(every, [*within], towers)
        strided = (module for module in every.values() if isinstance(module, nn.Conv2d))
        lists = nn.ModuleList | nn.ModuleDict
        outside = {path: module for path, module in every.items() if path not in within}

        def weak(modules: Mapping[str, nn.Module], chosen: Callable[[str, Any], bool]) -> Weak:
            return {path: ref(each) for path, each in modules.items() if chosen(path, each)}

        containers = weak(outside, lambda path, x: path in above and not isinstance(x, lists))
        untraceable = {
            type(each).__name__ for path, each in untraced.items() if path not in returners
        }
        return AttentionModules(
            {
                id(module): AttentionModule(
                    path,
                    towers[path],
                    layers[path],
                    type(module).__name__,
                    tuple(up for up in ancestors(path) if up in containers),
                )
                for path, module in within.items()
            },
            tuple(sorted(untraceable)),
            overlapping=any(1 < each.stride[0] < each.kernel_size[0] for each in strided),
            attention=weak(within, lambda path, x: not _attends_once(type(x))),
            alone=frozenset(id(each) for each in within.values() if _attends_once(type(each))),
            recipes=weak(within, lambda path, x: recipe_of(type(x)) is not None),
            returners=weak(returners, lambda path, x: True),
            containers=containers,
            windows=weak(outside, lambda path, x: path not in above and _cuts_windows(x)),
            towers=weak(
                every, lambda path, x: isinstance(getattr(x, "spatial_merge_size", None), int)
            ),
            configs=configs_of(network),
            packed=frozenset(
                id(each.config)
                for each in every.values()
                if hasattr(each, "config") and BOUNDARIES in source_of(type(each))
            ),
        )

    def of(self, module: nn.Module) -> AttentionModule:
        """The entry of a module; one whose source cannot be read has no tower."""
        known, name = self.modules.get(id(module)), type(module).__name__
        return AttentionModule(name, None, 0, name) if known is None else known


def alive(modules: Weak) -> list[tuple[str, nn.Module]]:
    """The modules that are still there, by path."""
    return [(path, module) for path, each in modules.items() if (module := each()) is not None]


@lru_cache(maxsize=4096)
def uses_interface(kind: type[nn.Module]) -> bool | None:
    """Whether a module uses the attention interface; None if it is no attention layer."""
    source = source_of(kind)
    if "ALL_ATTENTION_FUNCTIONS" in source or CALL in source:
        return True
    computes = COMPUTES.search(source)
    named = re.search(r"atten|attn", kind.__name__, re.IGNORECASE)
    return False if named and computes else None


@lru_cache(maxsize=4096)
def _attends_once(kind: type[nn.Module]) -> bool:
    """Whether a layer calls the interface once, with queries and keys of the same states."""
    return source_of(kind).count(CALL) == 1 and not {*KEYS} & {*parameters_of(kind)}


@lru_cache(maxsize=4096)
def parameters_of(kind: type[nn.Module]) -> tuple[str, ...]:
    """The names of what a module is called with."""
    return tuple(inspect.signature(kind.forward).parameters)[1:]


@lru_cache(maxsize=4096)
def source_of(kind: type[nn.Module]) -> str:
    """The source of a module's class and of its bases, library base classes left out."""
    parts = [part for part in kind.__mro__ if part.__module__ not in NO_LAYERS]
    return "".join(_source(part) for part in parts if issubclass(part, nn.Module))


@lru_cache(maxsize=4096)
def _source(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return ""


def configs_of(network: nn.Module) -> list[PretrainedConfig]:
    """Every config in which a part of the network looks its attention up, each once."""
    configs: dict[int, PretrainedConfig] = {}
    waiting = [getattr(module, "config", None) for module in network.modules()]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PretrainedConfig) and id(config) not in configs:
            configs[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return list(configs.values())


def _cuts_windows(module: nn.Module) -> bool:
    """Whether a block cuts an image into windows for the attention layers inside of it."""
    size = getattr(module, "window_size", 0)
    return hasattr(module, "shift_size") or (isinstance(size, int) and size > 0)


def blocks_of(
    network: nn.Module, modules: AttentionModules
) -> Iterator[tuple[str | None, str, nn.Module]]:
    """The blocks of each stack that has attention, with their tower and path."""
    stacks: dict[str, str | None] = {}
    for place in modules.modules.values():
        if any(map(str.isdigit, place.path.split("."))):
            stacks.setdefault(".".join(_stack_of(place.path)), place.tower)
    for path, tower in stacks.items():
        for name, block in network.get_submodule(path).named_children():
            yield tower, f"{path}.{name}", block


def ancestors(path: str) -> Iterator[str]:
    """The paths of the modules that contain a module, innermost first; the last is ""."""
    while path:
        path = path.rpartition(".")[0]
        yield path


def _containers(paths: Iterable[str]) -> frozenset[str]:
    stacks = {".".join(_stack_of(path)) for path in paths}
    return frozenset(stacks.union(*(ancestors(stack) for stack in stacks)) - set(paths))


def _towers(paths: list[str]) -> dict[str, str | None]:
    """The tower of each path: the first component in which the layer stacks differ."""
    stacks = {path: _stack_of(path) for path in paths}
    numbered = {stack for path, stack in stacks.items() if len(stack) < len(path.split(".")) - 1}
    for path, stack in stacks.items():  # a layer beside a stack belongs to it
        beside = [each for each in numbered if each[: len(stack)] == stack]
        if stack not in numbered and len(beside) == 1:
            stacks[path] = beside[0]
    different = sorted(set(stacks.values()))
    if len(different) < 2:
        return dict.fromkeys(paths)
    alike = (len(set(parts)) == 1 for parts in zip(*different, strict=False))
    shared = sum(1 for _ in takewhile(bool, alike))
    names = {stack: stack[shared] if len(stack) > shared else stack[-1] for stack in different}
    return {path: SUFFIX.sub("", names[stack]) for path, stack in stacks.items()}


def _stack_of(path: str) -> tuple[str, ...]:
    """The path up to the first block number."""
    parts = path.split(".")
    numbers = [index for index, part in enumerate(parts) if part.isdigit()]
    return tuple(parts[: numbers[0]] if numbers else parts[:-1])


def _layers(
    every: dict[str, nn.Module], paths: list[str], towers: dict[str, str | None]
) -> dict[str, int]:
    """The block number of each path; one outside of any block follows the blocks of its tower."""
    lists: dict[str, list[str]] = {}
    for name in every:
        if name.rpartition(".")[2].isdigit():
            lists.setdefault(DIGITS.sub("*", name), []).append(name)
    blocks = {path: block_of(every, path) for path in paths}
    layers = {
        path: lists[DIGITS.sub("*", block)].index(block)
        for path, block in blocks.items()
        if block is not None
    }
    for path in paths:
        if blocks[path] is None:
            beside = [layers[each] + 1 for each in layers if towers[each] == towers[path]]
            layers[path] = max(beside, default=0)
    return layers


def block_of(every: dict[str, nn.Module], path: str) -> str | None:
    """The block a path lies in: its innermost numbered part in a list of modules of one class.

    The outermost number always counts, whatever the other modules of its list are; a list of
    unlike parts within a block (attention, then feed-forward) does not.
    """
    parts = path.split(".")
    ends = [index for index, part in enumerate(parts) if part.isdigit()]
    for end in reversed(ends[1:]):
        siblings = every[".".join(parts[:end])].children()
        if len({type(each) for each in siblings}) == 1:
            return ".".join(parts[: end + 1])
    return ".".join(parts[: ends[0] + 1]) if ends else None
