"""Ways out of settings that are impossible, or that this machine has no room for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from viz.pages.architecture import blueprint
from viz.pages.architecture.fields import Field, fields

FAR = 64  # how far from a number another one is looked for
LIMITS = (200, 512, 1000, 1024)  # usual lengths of the longest input
SMALLER = (*("depth", "mlp", "dim", "image"), *("vocab", "source_vocab", "target_vocab", "tokens"))
MOST = 4
Values = dict[str, int | str]


@dataclass(frozen=True)
class Fix:
    """One change that makes the settings possible."""

    label: str
    changes: Values


def nearest() -> list[Fix]:
    """For each setting that alone can make the others possible: its nearest such value."""
    name, said = blueprint.chosen(), blueprint.values()
    found = []
    for field in _fields(name):
        works = _first(name, said, field.name, _near(field, said))
        if works is not None:
            found.append(_fix(field, works))
    return found[:MOST]


def smaller(fits: Callable[[object, Values], bool]) -> list[Fix]:
    """For each size that alone can make a network fit: the largest value that is tried.

    Args:
        fits: whether a config, with these settings, has room.
    """
    name, said = blueprint.chosen(), blueprint.values()
    found = []
    for field in _fields(name):
        if field.name not in SMALLER:
            continue
        for value in _falling(int(said[field.name])):
            changed = said | {field.name: value}
            if "source_vocab" in changed and field.name.endswith("vocab"):
                changed |= {"source_vocab": value, "target_vocab": value}
            made = _possible(name, changed)
            if made is not None and fits(made, changed):
                different = {key: changed[key] for key in changed if changed[key] != said[key]}
                found.append(Fix(f"{field.label} {value:,}", different))
                break
    return found[:MOST]


def _fields(name: str) -> tuple[Field, ...]:
    from models.presets import PRESETS

    return fields(PRESETS[name].kind)


def _fix(field: Field, value: int | str) -> Fix:
    shown = f"{value:,}" if isinstance(value, int) else value
    return Fix(f"{field.label} {shown}", {field.name: value})


def _first(name: str, said: Values, changed: str, tried: Iterator[int | str]) -> int | str | None:
    return next(
        (value for value in tried if _possible(name, said | {changed: value}) is not None), None
    )


def _possible(name: str, said: Values) -> object | None:
    try:
        return blueprint.config(name, said)
    except ValueError:
        return None


def _near(field: Field, said: Values) -> Iterator[int | str]:
    """Other values, the nearest first; after those, the numbers that other settings have."""
    if field.options:
        yield from (option for option in field.options if option != said[field.name])
        return
    now = int(said[field.name])
    if field.name == "head_dim" and not now:  # which stands for an equal share
        now = int(said["dim"]) // int(said["heads"])
    for distance in range(FAR + 1):
        for value in dict.fromkeys((now - distance, now + distance)):
            if max(field.low, 1) <= value <= field.high:
                yield value
    others = {int(value) for value in said.values() if isinstance(value, int)} | set(LIMITS)
    inside = others & set(range(max(field.low, 1), field.high + 1))
    yield from sorted(inside, key=lambda value: abs(value - now))


def _falling(now: int) -> Iterator[int]:
    """Smaller and smaller numbers, those with many divisors preferred."""
    value = now
    while value > 1:
        value = value * 3 // 4
        yield value - value % 64 if value > 64 else value - value % 8 if value > 8 else value
