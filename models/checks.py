"""Fields of configs: what two have in common, and checks.

Errors of checks give the expected and the received value.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

MOST_DIVISOR = 2**12  # that an error offers


def shared_fields(config: object, kind: type) -> dict[str, Any]:
    """The arguments of another kind of config that this one has by the same names."""
    names = (field.name for field in fields(kind))
    return {name: getattr(config, name) for name in names if hasattr(config, name)}


def divisors(number: int) -> str:
    """The numbers up to `MOST_DIVISOR` that divide a number, for an error."""
    return ", ".join(str(n) for n in range(1, min(number, MOST_DIVISOR) + 1) if number % n == 0)


def check_least(config: object, least: Mapping[str, int]) -> None:
    """Raises ValueError for a field that is neither None nor at least this value."""
    for name, bound in least.items():
        value = getattr(config, name)
        if value is not None and value < bound:
            raise ValueError(f"{name}: expected at least {bound}, received {value}")


def check_choices(config: object, choices: Mapping[str, Collection[str | None]]) -> None:
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


def check_positive(config: object, names: Sequence[str]) -> None:
    """Raises ValueError for a field that is not above 0."""
    for name in names:
        value = getattr(config, name)
        if value <= 0:
            raise ValueError(f"{name}: expected a number above 0, received {value}")
