"""The parameters of untrusted requests, validated."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from viz.values import Kind

MAX_QUERY = 1024


class QuestionError(ValueError):
    """An invalid request; the message says what was expected."""


class UnknownError(LookupError):
    """Nothing has this name."""


def parse_query(
    pairs: Sequence[tuple[str, str]], kinds: Mapping[str, Kind], optional: Container[str] = ()
) -> dict[str, Any]:
    """The parsed and validated parameters of a query.

    Args:
        pairs: names and texts as they came.
        kinds: of the parameters, by name.
        optional: those that may be left out.

    Raises:
        QuestionError: a parameter is missing, unknown, repeated or invalid.
    """
    values: dict[str, Any] = {}
    if sum(len(name) + len(text) for name, text in pairs) > MAX_QUERY:
        raise QuestionError(f"expected at most {MAX_QUERY} characters of parameters")
    for name, text in pairs:
        kind = kinds.get(name)
        if kind is None:
            expected = f"the parameters {', '.join(kinds)}" if kinds else "no parameters"
            raise QuestionError(f"expected {expected}")
        if name in values or len(text) > kind.longest:
            raise QuestionError(f"expected {name} once, in at most {kind.longest} characters")
        try:
            values[name] = kind(text)
        except ValueError as error:
            raise QuestionError(str(error)) from error
    for name in kinds:
        if name not in values and name not in optional:
            raise QuestionError(f"expected the parameter {name}")
    return values
