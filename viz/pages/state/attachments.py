"""Uploaded files and texts too long for a link, by the digest that represents them in links.

A bounded number is kept for the life of the process, so that they survive a reload. When there are
too many, the oldest of the visitor who has the most goes first.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Any

from viz.pages.state.params import MAX_TEXT, digest_of

MAX_BYTES = 256 << 20

_lock = threading.Lock()
_kept: OrderedDict[str, bytes] = OrderedDict()
_owners: dict[str, str] = {}


def keep(data: bytes, visitor: str = "") -> str:
    """Stores a file or text; returns its SHA-256.

    Args:
        data: its contents.
        visitor: to whose share it counts.
    """
    digest = digest_of(data)
    with _lock:
        _kept[digest], _owners[digest] = data, visitor
        _kept.move_to_end(digest)
        while len(_kept) > 1 and sum(map(len, _kept.values())) > MAX_BYTES:
            _drop_one(digest)
    return digest


def _drop_one(newest: str) -> None:
    """Drops the oldest of the visitor who has the most, but not the newest of all."""
    shares = Counter[str]()
    for digest, data in _kept.items():
        shares[_owners[digest]] += len(data)
    others = (digest for digest in _kept if digest != newest)
    dropped = max(others, key=lambda digest: shares[_owners[digest]])  # the first, the oldest
    del _kept[dropped], _owners[dropped]


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


def keep_long_texts(settings: Mapping[str, Any], visitor: str) -> None:
    """Stores the texts that a link represents by their digest only."""
    for value in settings.values():
        if isinstance(value, str) and len(value) > MAX_TEXT:
            keep(value.encode("utf-8", "replace"), visitor)
