"""A disk that has run full."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def disk_with_room_for(size: int) -> Iterator[None]:
    """No file may grow beyond this many bytes: writing more fails as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
