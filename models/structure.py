"""The modules of a network, listed once and kept with it weakly; listed anew when it was changed.

What is asked of the modules (which are attention layers, which configs they read) is kept with the
list. A trace then walks no module tree. The tree is compared by what every module holds now, for
which PyTorch has no public name that is as cheap.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from torch import nn

Answer = TypeVar("Answer")
HELD = attrgetter("_modules")


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
