"""The errors of files that cannot be used or fetched."""


class CheckpointError(ValueError):
    """A checkpoint that is missing, altered or unreadable; the message says what to do."""


class FetchError(CheckpointError):
    """A model that cannot be fetched; the message gives the reason and what to do."""


class UnreachableError(FetchError):
    """The package index cannot be reached."""


class FetchCancelledError(FetchError):
    """The fetch was cancelled; nothing of it is kept."""
