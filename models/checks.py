"""Fields of configs: their ranges, and what two have in common."""

from collections.abc import Collection
from dataclasses import fields
from typing import Any

MOST_DIVISOR = 2**12  # that an error offers
# Ranges of fields by name, in every config.
FROM_ONE = (
    *("dim", "heads", "head_dim", "key_dim", "value_dim", "kv_heads", "d_k", "d_v", "mlp"),
    *("input_dim", "query_input_dim", "key_input_dim", "value_input_dim", "channels"),
    *("depth", "decoder_depth", "vocab", "source_vocab", "target_vocab", "max_tokens"),
)
FROM_ZERO = ("segments", "registers", "classes", "token_std", "position_std")
POSITIVE = ("eps", "rotary_base")


def shared_fields(config: object, kind: type) -> dict[str, Any]:
    """The arguments of another kind of config that this one has by the same names."""
    names = (field.name for field in fields(kind))
    return {name: getattr(config, name) for name in names if hasattr(config, name)}


def divisors(number: int) -> str:
    """The numbers up to `MOST_DIVISOR` that divide a number, for an error."""
    return ", ".join(str(n) for n in range(1, min(number, MOST_DIVISOR) + 1) if number % n == 0)


def check_fields(config: object, **choices: Collection[str | None]) -> None:
    """Raises ValueError for a field out of range, or one that is none of its choices.

    The range of a field follows from its name; None is in every range.
    """
    for name, value in vars(config).items():
        allowed = choices.get(name, (value,))
        if value not in allowed:
            listed = ", ".join(filter(None, allowed))
            raise ValueError(f"{name}: expected one of {listed}, received {value!r}")
        if value is None:
            continue
        least = 1 if name in FROM_ONE else 0
        if name in (*FROM_ONE, *FROM_ZERO) and value < least:
            raise ValueError(f"{name}: expected at least {least}, received {value}")
        if name.endswith(("dropout", "drop_path")) and not 0 <= value < 1:
            raise ValueError(f"{name}: expected 0 up to 1, received {value}")
        if name in POSITIVE and value <= 0:
            raise ValueError(f"{name}: expected a number above 0, received {value}")
