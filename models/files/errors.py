"""The error of files that cannot be used."""


class CheckpointError(ValueError):
    """A checkpoint that is missing, altered or unreadable; the message says what to do."""
