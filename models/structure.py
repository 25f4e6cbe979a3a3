"""The modules of a network: listed once, in eval mode for a pass, and hooked for one pass.

The list is kept with the network weakly, and made anew when it was changed; what is asked of the
modules (which are attention layers, which configs they read) is kept with the list. A trace then
walks no module tree. The tree is compared by what every module holds now, for which PyTorch has no
public name that is as cheap.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from itertools import chain
from operator import attrgetter
from threading import get_ident
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from torch import nn

Answer = TypeVar("Answer")
Network = TypeVar("Network", bound=nn.Module)
Hooks = Iterable[tuple[nn.Module, Callable[..., Any]]]
HELD = attrgetter("_modules")
HOOKS = (  # where a module keeps what is called before and after it
    *("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called"),
    *("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs"),
)


@dataclass(frozen=True, eq=False)
class _Listing:
    """The modules of a network.

    Attributes:
        modules: each once, the network first.
        children: ids of what they hold, one after another.
        answers: what was asked of them, by the question, and what was computed; see `kept_with`.
    """

    modules: tuple[ref[nn.Module], ...]
    children: tuple[int, ...]
    answers: dict[Any, Any] = field(default_factory=dict)

    def current(self) -> list[nn.Module] | None:
        """The modules; None if the network holds others by now."""
        modules = [module for each in self.modules if (module := each()) is not None]
        same = len(modules) == len(self.modules) and _children(modules) == self.children
        return modules if same else None


_listings: WeakKeyDictionary[nn.Module, _Listing] = WeakKeyDictionary()


def modules_of(network: nn.Module, *, check: bool = True) -> list[nn.Module]:
    """The modules of a network, itself first, each once.

    Args:
        network: that holds them.
        check: whether they may have become others since they were asked for last.
    """
    listing = None if check else _listings.get(network)
    if listing is None:
        return _current(network)[1]
    return [module for each in listing.modules if (module := each()) is not None]


def kept_with(network: nn.Module) -> dict[Any, Any]:
    """What was computed of a network, by any key, until its modules are others."""
    return _current(network)[0].answers


def once(question: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """The function, asked once for each network until its modules are others.

    Its answer holds no module strongly: the network would never be freed.
    """

    @wraps(question)
    def asked(network: Any) -> Answer:
        answers = kept_with(network)
        if question not in answers:
            answers[question] = question(network)
        return answers[question]

    return asked


def _current(network: nn.Module) -> tuple[_Listing, list[nn.Module]]:
    listing = _listings.get(network)
    modules = None if listing is None else listing.current()
    if listing is None or modules is None:
        modules = list(network.modules())
        listing = _listings[network] = _Listing(tuple(map(ref, modules)), _children(modules))
    return listing, modules


def _children(modules: list[nn.Module]) -> tuple[int, ...]:
    return tuple(map(id, chain.from_iterable(map(dict.values, map(HELD, modules)))))


# --- eval mode, without touching the mode of a network that somebody trains ----------------------


def evaluating(network: Network) -> Network:
    """The network if all of it is in eval mode, else a copy in eval mode that shares its weights.

    A loop in another thread may be training it: with its mode changed, even for a moment, that loop
    would go on without dropout.

    Raises:
        ValueError: for a network in training mode that cannot be copied.
    """
    if not _trains(network):
        return network
    try:
        return twin_of(network).eval()
    except Exception as error:  # what a module holds can refuse a copy in any way
        raise ValueError(
            f"{type(network).__name__} is in training mode and cannot be copied: call its eval()"
            f" before it is traced ({error})"
        ) from error


def twin_of(network: Network) -> Network:
    """A copy whose modules are its own, and whose weights and hooks are those of the network."""
    shared: dict[int, Any] = {id(x): x for x in chain(network.parameters(), network.buffers())}
    for module in network.modules():
        hooks = (each for name, each in vars(module).items() if name in HOOKS)
        shared |= {id(each): each.copy() for each in hooks}
    return copy.deepcopy(network, shared)


def check_eval(network: nn.Module) -> None:
    """Raises ValueError for a network that was set to training mode during or after its trace."""
    if _trains(network, check=False):
        raise ValueError(
            f"{type(network).__name__} was set to training mode while it was read: trace it again"
        )


def _trains(network: nn.Module, *, check: bool = True) -> bool:
    return True in [part.training for part in modules_of(network, check=check)]


# --- hooks of one pass, on a network that several threads run at once -----------------------------


@contextmanager
def hooked(before: Hooks = (), after: Hooks = (), *, first: bool = False) -> Iterator[None]:
    """Inside, modules call hooks in passes of this thread.

    Args:
        before: modules, and what is called with the module, its arguments and keyword arguments.
        after: likewise, with what the module returned besides.
        first: whether they come before other hooks of their modules.
    """
    handles = [
        module.register_forward_pre_hook(of_this_thread(hook), with_kwargs=True, prepend=first)
        for module, hook in before
    ]
    handles += [
        module.register_forward_hook(of_this_thread(hook), with_kwargs=True, prepend=first)
        for module, hook in after
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def of_this_thread(hook: Callable[..., Any]) -> Callable[..., Any]:
    """The hook in passes of the thread that calls this; in those of others it does nothing.

    PyTorch looks up whether a hook takes keyword arguments only when it calls it. One that its own
    thread has removed by then is called without them in the pass of another thread.
    """
    thread = get_ident()

    def guarded(*given: Any) -> Any:
        return hook(*given) if get_ident() == thread else None

    return guarded
