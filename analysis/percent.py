"""A share in percent, as sentences write it."""


def percent(share: float, form: str = ".0f") -> str:
    """The number and its sign, which no line break parts.

    Args:
        share: of 1.
        form: of the number, as a format specification.
    """
    return f"{100 * share:{form}}\u00a0%"
