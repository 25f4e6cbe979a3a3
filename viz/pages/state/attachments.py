"""Uploaded files and texts too long for a link, by the digest that represents them in links.

A bounded number is kept for the life of the process, so that they survive a reload.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from viz.pages.state.params import MAX_TEXT, digest_of

MAX_BYTES = 256 << 20

_lock = threading.Lock()
_kept: OrderedDict[str, bytes] = OrderedDict()


def keep(data: bytes) -> str:
    """Stores a file or text; returns its SHA-256."""
    digest = digest_of(data)
    with _lock:
        _kept[digest] = data
        _kept.move_to_end(digest)
        while len(_kept) > 1 and sum(map(len, _kept.values())) > MAX_BYTES:
            _kept.popitem(last=False)
    return digest


def find(digest: str) -> bytes | None:
    """The data with this SHA-256, if it is stored."""
    with _lock:
        if digest in _kept:
            _kept.move_to_end(digest)
        return _kept.get(digest)


def text(digest: str) -> str | None:
    """The text with this SHA-256, if it is stored."""
    data = find(digest)
    return None if data is None else data.decode("utf-8", "replace")


def keep_long_texts(settings: Mapping[str, Any]) -> None:
    """Stores the texts that a link represents by their digest only."""
    for value in settings.values():
        if isinstance(value, str) and len(value) > MAX_TEXT:
            keep(value.encode("utf-8", "replace"))
