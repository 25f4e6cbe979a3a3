"""The modules of a network as they ran: what each read and returned, in the order of their calls.

A pass keeps what the modules outside of the blocks read, and the arguments of every block. A block
that is opened runs once more, alone, with its own modules watched: opening one of seventy costs no
more than opening one of two.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from models.blocks import Context
from models.output import Projection
from models.structure import evaluating, hooked
from models.trace import Trace

PASSIVE = (nn.Dropout, nn.Identity)  # what returns its input in eval mode, beside DropPath


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a module.

    Attributes:
        path: of the module in its network.
        module: that was called.
        reads: the tensors among its arguments.
        gives: the tensors that it returned.
    """

    path: str
    module: nn.Module
    reads: tuple[Tensor, ...]
    gives: tuple[Tensor, ...]


def tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in arguments or results."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from tensors(each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from tensors(each)
    elif isinstance(value, Context):
        yield value.states


def watched(modules: Mapping[str, nn.Module], run: Callable[[], Any]) -> list[Call]:
    """The calls of some modules in one pass, in the order in which they begin.

    Args:
        modules: by path; a call within the call of another that does not hold it is left out: two
            modules share it.
        run: the pass.
    """
    calls: list[Any] = []
    running: list[tuple[str, int]] = []  # with the places of their calls

    def begin(path: str) -> Callable[..., None]:
        def hook(module: nn.Module, args: Any, kwargs: Any) -> None:
            running.append((path, len(calls)))
            calls.append(tuple(tensors((args, kwargs))))

        return hook

    def end(path: str) -> Callable[..., None]:
        def hook(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            _, index = running.pop()
            call = Call(path, module, calls[index], tuple(tensors(output)))
            shared = any(around and not path.startswith(f"{around}.") for around, _ in running)
            calls[index] = None if shared else call  # that one of several modules holds it

        return hook

    before = [(module, begin(path)) for path, module in modules.items()]
    after = [(module, end(path)) for path, module in modules.items()]
    with torch.no_grad(), hooked(before, after):
        run()
    return [each for each in calls if isinstance(each, Call)]


@dataclass(frozen=True, eq=False)
class Network:
    """A network and one pass of it, opened level by level.

    Attributes:
        root: the network.
        run: the pass.
        sites: the paths of its attention modules, in the order of their calls; one may repeat.
        kinds: "self", "causal" or "cross" of each.
        alone: whether a block may run by itself; with edits of states the whole pass runs again.
    """

    root: nn.Module
    run: Callable[[], Any]
    sites: Sequence[str]
    kinds: Sequence[str]
    alone: bool = True
    _opened: dict[str, list[Call]] = field(default_factory=dict)
    _products: dict[str, int] = field(default_factory=dict)
    _sizes: list[int] = field(default_factory=list)
    _arguments: dict[str, tuple[tuple, dict[str, Any]]] = field(default_factory=dict)

    @staticmethod
    def of(trace: Trace) -> "Network":
        """That of a trace, for its pass.

        Raises:
            ValueError: for a trace that was made without its network.
        """
        origin = trace.origin
        if origin is None:
            raise ValueError("this trace was made without its network, which has to be asked")
        root = evaluating(origin.network)
        paths = [site.module or "" for site in trace.sites]
        kinds = [site.kind for site in trace.sites]
        return Network(root, origin.rerun, paths, kinds, alone=not trace.edits)

    @cached_property
    def stacks(self) -> tuple[str, ...]:
        """The paths of the lists of blocks, in order: the innermost list around each attention
        whose members are all of one class."""
        lists: dict[str, None] = {}
        for site in self.sites:
            parts = site.split(".")
            for end in range(len(parts) - 1, 0, -1):
                around = ".".join(parts[:end])
                module = self.root.get_submodule(around)
                alike = isinstance(module, nn.ModuleList) and len({*map(type, module)}) == 1
                if alike and parts[end].isdigit():
                    lists[around] = None
                    break
        return tuple(lists)

    @cached_property
    def blocks(self) -> dict[str, nn.Module]:
        """The blocks by their paths."""
        return {
            f"{stack}.{name}": block
            for stack in self.stacks
            for name, block in self.root.get_submodule(stack).named_children()
        }

    @cached_property
    def whole(self) -> list[Call]:
        """The calls of the blocks, and of the modules outside of them."""
        outside = dict(self._outside("", self.root))
        return watched({**outside, **self.blocks}, self._watching)

    @property
    def widest(self) -> int:
        """How many numbers the largest tensor has that a module without others reads or gives."""
        _ = self.whole
        return max(self._sizes, default=0)

    @property
    def products(self) -> dict[str, int]:
        """Floating point operations of the matrix products, by the path of their module."""
        _ = self.whole
        return self._products

    def inside(self, path: str) -> list[Call]:
        """The calls of the modules directly inside a module, and of the module itself, last.

        A list of modules never runs itself, so its members count as directly inside. So do the
        parts of a module that holds an attention module.
        """
        if path not in self._opened:
            parent = self.root.get_submodule(path)
            modules = dict(self.children(path)) | {path: parent}
            calls = watched(modules, self._runner(path))
            outer = [call for call in calls if call.path == path]
            rest = [call for call in calls if call.path != path]
            self._opened[path] = [*rest, *outer[:1]]
        return self._opened[path]

    def children(self, path: str) -> Iterator[tuple[str, nn.Module]]:
        """The modules directly inside one, by path."""
        for name, module in self.root.get_submodule(path).named_children():
            inner = f"{path}.{name}" if path else name
            holds = any(f"{site}.".startswith(f"{inner}.") for site in self.sites)
            if isinstance(module, nn.ModuleList | nn.ModuleDict) or (holds and path):
                yield from self.children(inner)
            else:
                yield inner, module

    def block_of(self, path: str) -> str | None:
        """The block that a module is in; None outside of them."""
        return next((each for each in self.blocks if f"{path}.".startswith(f"{each}.")), None)

    def _runner(self, path: str) -> Callable[[], Any]:
        block = self.block_of(path)
        _ = self.whole
        if block is None or not self.alone or block not in self._arguments:
            return self.run
        args, kwargs = self._arguments[block]
        return lambda: self.blocks[block](*args, **kwargs)

    def _watching(self) -> Any:
        """The pass, which keeps the arguments of the blocks and counts products."""

        def keep(path: str) -> Callable[..., None]:
            def hook(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
                self._arguments.setdefault(path, (args, kwargs))

            return hook

        def count(path: str) -> Callable[..., None]:
            def hook(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
                done = flops_of(module, (args, kwargs), output)
                self._products[path] = self._products.get(path, 0) + done
                ends = next(tensors((args, kwargs)), None), next(tensors(output), None)
                self._sizes.extend(each.numel() for each in ends if each is not None)

            return hook

        leaves = [(n, m) for n, m in self.root.named_modules() if not any(m.children())]
        before = [(module, keep(path)) for path, module in self.blocks.items()]
        with hooked(before, [(module, count(path)) for path, module in leaves]):
            return self.run()

    def _outside(self, path: str, module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
        """The outermost modules that hold no block."""
        for name, child in module.named_children():
            inner = f"{path}.{name}" if path else name
            if any(f"{stack}.".startswith(f"{inner}.") for stack in self.stacks):
                if inner not in self.stacks:
                    yield from self._outside(inner, child)
            elif isinstance(child, nn.ModuleList | nn.ModuleDict):
                yield from self._outside(inner, child)
            elif inner in self.blocks or self.block_of(inner) is None:
                yield inner, child


def flops_of(module: nn.Module, reads: Any, output: Any) -> int:
    """Two for each multiplication and addition of a product with the module's own matrix."""
    gives = next(tensors(output), None)
    if gives is None:
        return 0
    if isinstance(module, nn.Linear):
        return 2 * gives.numel() * module.in_features
    if isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d):
        return 2 * gives.numel() * prod(module.weight.shape[1:])
    if isinstance(module, Projection) or type(module).__name__ == "Conv1D":
        first = next(tensors(reads))
        return 2 * gives.numel() * first.shape[-1]
    return 0


def is_passive(call: Call) -> bool:
    """Whether a call returned what it read, as dropout does."""
    if isinstance(call.module, PASSIVE) or not (call.reads and call.gives):
        return True
    first, given = call.reads[0], call.gives[0]
    if first is given or first.is_meta or first.shape != given.shape:
        return first is given
    return first.data_ptr() == given.data_ptr()


def parameters(module: nn.Module) -> int:
    """How many numbers a module learns, each once."""
    return sum(each.numel() for each in module.parameters())
