"""A share in percent, as sentences write it."""


def percent(share: float, form: str = ".0f") -> str:
    """The number and its sign, which no line break parts."""
    return f"{100 * share:{form}}\u00a0%"
