"""What the configs of all networks check the same way, with errors that say what would fit."""

from collections.abc import Mapping, Sequence


def check_least(config: object, least: Mapping[str, int]) -> None:
    """Raises ValueError for a field below its least value."""
    for name, bound in least.items():
        if getattr(config, name) < bound:
            raise ValueError(f"{name}: expected at least {bound}, received {getattr(config, name)}")


def check_choices(config: object, choices: Mapping[str, Sequence[str]]) -> None:
    """Raises ValueError for a field that is none of its choices."""
    for name, allowed in choices.items():
        if getattr(config, name) not in allowed:
            raise ValueError(
                f"{name}: expected one of {', '.join(allowed)}, received {getattr(config, name)!r}"
            )


def check_shares(config: object, names: Sequence[str]) -> None:
    """Raises ValueError for a field that is not from 0 up to 1, 1 left out."""
    for name in names:
        if not 0 <= getattr(config, name) < 1:
            raise ValueError(f"{name}: expected 0 up to 1, received {getattr(config, name)}")
