"""How amounts are written."""


def short(value: float, quantity: str = "parameters") -> str:
    """Three digits and a unit: 1,234,567 → "1.23 M"; memory in binary steps."""
    base, units = (1000, ("", " k", " M", " G", " T"))
    if quantity == "memory":
        base, units = (1024, (" B", " KiB", " MiB", " GiB", " TiB"))
    step = 0
    while value >= 999.5 and step < len(units) - 1:
        value, step = value / base, step + 1
    digits = 0 if step == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}{units[step]}"
