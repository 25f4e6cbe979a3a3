"""The parameters of untrusted requests, validated."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_VALUE = 64  # characters of a parameter that says nothing else
MAX_QUERY = 1024

Parse = Callable[[str], Any]


class QuestionError(ValueError):
    """An invalid request; the message says what was expected."""


class UnknownError(LookupError):
    """Nothing has this name."""


def parse_query(
    pairs: Sequence[tuple[str, str]],
    required: Mapping[str, Parse],
    optional: Mapping[str, Parse],
    longest: int = MAX_VALUE,
) -> dict[str, Any]:
    """The parsed and validated parameters of a query.

    Args:
        pairs: names and texts as they came.
        required: parsers of the parameters that must be there.
        optional: of those that may be.
        longest: characters of a parameter whose parser has no `longest`.

    Raises:
        QuestionError: a parameter is missing, unknown, repeated or invalid.
    """
    parsers = {**required, **optional}
    values: dict[str, Any] = {}
    if sum(len(name) + len(value) for name, value in pairs) > MAX_QUERY:
        raise QuestionError(f"expected at most {MAX_QUERY} characters of parameters")
    for name, text in pairs:
        if name not in parsers:
            expected = f"the parameters {', '.join(parsers)}" if parsers else "no parameters"
            raise QuestionError(f"expected {expected}")
        limit = max(longest, getattr(parsers[name], "longest", 0))
        if name in values or len(text) > limit:
            raise QuestionError(f"expected {name} once, in at most {limit} characters")
        try:
            values[name] = parsers[name](text)
        except ValueError as error:
            raise QuestionError(str(error)) from error
    missing = [name for name in required if name not in values]
    if missing:
        raise QuestionError(f"expected the parameter {missing[0]}")
    return values
