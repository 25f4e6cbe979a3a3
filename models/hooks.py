"""Hooks that live for one pass, on a network that several threads run at once."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from torch import nn

Hooks = Iterable[tuple[nn.Module, Callable[..., Any]]]


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
