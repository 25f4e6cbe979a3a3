"""The errors of files that cannot be used or fetched."""

from collections.abc import Iterator
from contextlib import contextmanager


class CheckpointError(ValueError):
    """A checkpoint that is missing, altered or unreadable; the message says what to do."""


class FetchError(CheckpointError):
    """A model that cannot be fetched; the message gives the reason and what to do."""


class FetchCancelledError(FetchError):
    """The fetch was stopped by whoever asked for it."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Inside, a package that is not installed is named in one line, with the extra that brings it.

    Raises:
        ModuleNotFoundError: for such a package.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        line = f"{error.name} is not installed: pip install 'headscope[{extra}]' brings it"
        raise ModuleNotFoundError(line, name=error.name) from None


def first_line(error: BaseException) -> str:
    """What an error says, its first line, at most 160 characters; its class if it says nothing."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:160]
