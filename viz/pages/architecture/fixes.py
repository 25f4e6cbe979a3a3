"""Fixes for settings that are invalid or need too much memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from models.presets import PRESETS
from viz.pages.architecture import network
from viz.pages.architecture.fields import Field, Value, fields
from viz.pages.architecture.network import Values

FAR = 64  # maximum distance of an alternative number
LIMITS = (200, 512, 1000, 1024)  # usual lengths of the longest input
SMALLER = (*("depth", "mlp", "dim", "image"), *("vocab", "source_vocab", "target_vocab", "tokens"))
MOST = 4


@dataclass(frozen=True)
class Fix:
    """One change that makes the settings valid."""

    label: str
    changes: Values


def nearest() -> list[Fix]:
    """For each setting that alone can make the settings valid: its nearest such value."""
    name, now = network.chosen(), network.values()
    fixes = []
    for field in fields(PRESETS[name].kind):
        works = _first(name, now, field.name, _near(field, now))
        if works is not None:
            fixes.append(_fix(field, works))
    return fixes[:MOST]


def smaller(fits: Callable[[object, Values], bool]) -> list[Fix]:
    """For each size that alone can make the network fit: the largest value tried that does.

    Args:
        fits: whether a config with these settings fits.
    """
    name, now = network.chosen(), network.values()
    fixes = []
    for field in fields(PRESETS[name].kind):
        if field.name not in SMALLER:
            continue
        for value in _falling(int(now[field.name])):
            changed = now | {field.name: value}
            if "source_vocab" in changed and field.name.endswith("vocab"):
                changed |= {"source_vocab": value, "target_vocab": value}
            config = _possible(name, changed)
            if config is not None and fits(config, changed):
                different = {key: changed[key] for key in changed if changed[key] != now[key]}
                fixes.append(Fix(f"{field.label} {value:,}", different))
                break
    return fixes[:MOST]


def _fix(field: Field, value: Value) -> Fix:
    title = f"{value:,}" if isinstance(value, int) else value
    if field.titles:
        title = field.titles[field.options.index(str(value))]
    if field.control == "decimal" and field.auto and not value:
        title = "auto"
    return Fix(f"{field.label} {title}", {field.name: value})


def _first(name: str, now: Values, changed: str, tried: Iterator[Value]) -> Value | None:
    return next(
        (value for value in tried if _possible(name, now | {changed: value}) is not None), None
    )


def _possible(name: str, now: Values) -> object | None:
    try:
        return network.config(name, now)
    except ValueError:
        return None


def _near(field: Field, now: Values) -> Iterator[Value]:
    """Other values, nearest first, followed by the values of other settings."""
    if field.control in ("decimal", "text"):
        if now[field.name] != field.default:
            yield field.default
        return
    if field.options:
        yield from (option for option in field.options if option != now[field.name])
        return
    value = int(now[field.name])
    if field.name == "head_dim" and not value:
        value = int(now["dim"]) // int(now["heads"])
    for distance in range(FAR + 1):
        for near in dict.fromkeys((value - distance, value + distance)):
            if max(field.low, 1) <= near <= field.high:
                yield near
    others = {int(other) for other in now.values() if isinstance(other, int)} | set(LIMITS)
    inside = others & set(range(max(field.low, 1), field.high + 1))
    yield from sorted(inside, key=lambda other: abs(other - value))


def _falling(value: int) -> Iterator[int]:
    """Decreasing numbers, preferably with many divisors."""
    while value > 1:
        value = value * 3 // 4
        yield value - value % 64 if value > 64 else value - value % 8 if value > 8 else value
