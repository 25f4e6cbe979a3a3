"""Texts too long for a link, and dropped files, by the digest that stands for them in the link.

They are kept for the life of the process, within a bound, so that a reload finds them again.
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
    """Keeps a file or text; its SHA-256."""
    digest = digest_of(data)
    with _lock:
        _kept[digest] = data
        _kept.move_to_end(digest)
        while len(_kept) > 1 and sum(map(len, _kept.values())) > MAX_BYTES:
            _kept.popitem(last=False)
    return digest


def find(digest: str) -> bytes | None:
    """What has this SHA-256, if it is kept."""
    with _lock:
        if digest in _kept:
            _kept.move_to_end(digest)
        return _kept.get(digest)


def text(digest: str) -> str | None:
    """The text with this SHA-256, if it is kept."""
    data = find(digest)
    return None if data is None else data.decode("utf-8", "replace")


def keep_long_texts(settings: Mapping[str, Any]) -> None:
    """Keeps what stands in a link by its digest alone."""
    for value in settings.values():
        if isinstance(value, str) and len(value) > MAX_TEXT:
            keep(value.encode("utf-8", "replace"))
