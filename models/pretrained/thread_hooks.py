"""Hooks of one thread, on a network that several threads run at once."""

from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any


def of_this_thread(hook: Callable[..., Any]) -> Callable[..., Any]:
    """The hook in passes of the thread that calls this; in those of others it does nothing.

    PyTorch looks up whether a hook takes keyword arguments only when it calls it. One that its own
    thread has removed by then is called without them in the pass of another thread.
    """
    thread = get_ident()

    @wraps(hook)
    def guarded(*given: Any) -> Any:
        return hook(*given) if get_ident() == thread else None

    return guarded
