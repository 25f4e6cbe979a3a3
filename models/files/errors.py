"""The errors of files that cannot be used or fetched."""


class CheckpointError(ValueError):
    """A checkpoint that is missing, altered or unreadable; the message says what to do."""


class FetchError(CheckpointError):
    """A model that cannot be fetched; the message gives the reason and what to do."""


class FetchCancelledError(FetchError):
    """The fetch was stopped by whoever asked for it."""


def first_line(error: BaseException) -> str:
    """What an error says, its first line, at most 160 characters; its class if it says nothing."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:160]
