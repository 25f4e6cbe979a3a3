"""Checks of config fields; errors give the expected and the received value."""

from collections.abc import Mapping, Sequence


def check_least(config: object, least: Mapping[str, int]) -> None:
    """Raises ValueError for a field that is neither None nor at least this value."""
    for name, bound in least.items():
        value = getattr(config, name)
        if value is not None and value < bound:
            raise ValueError(f"{name}: expected at least {bound}, received {value}")


def check_choices(config: object, choices: Mapping[str, Sequence[str | None]]) -> None:
    """Raises ValueError for a field that is none of its choices."""
    for name, allowed in choices.items():
        if getattr(config, name) not in allowed:
            raise ValueError(
                f"{name}: expected one of {', '.join(filter(None, allowed))},"
                f" received {getattr(config, name)!r}"
            )


def check_shares(config: object, names: Sequence[str]) -> None:
    """Raises ValueError for a field that is neither None nor from 0 up to 1, 1 left out."""
    for name in names:
        share = getattr(config, name)
        if share is not None and not 0 <= share < 1:
            raise ValueError(f"{name}: expected 0 up to 1, received {share}")
