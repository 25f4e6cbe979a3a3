"""Estimated cost of a ViT built here, and ways to reduce it.

A slow pass runs on request only; one that does not fit this machine is refused.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from models.presets import config_of
from models.request import Source
from viz.api import passes
from viz.architecture import short
from viz.pages import shared
from viz.pages.explore import compute, sizes
from viz.pages.explore.names import PAGE
from viz.pages.state import session
from viz.pages.widgets import controls
from viz.pages.widgets.running import duration

SLOW = 5.0  # seconds: longer passes run on request only
LONGEST = 300.0  # maximum seconds of a pass
SHARE = 0.8  # of the free memory; the rest is left to other processes
SECONDS_A_WEIGHT = 2e-8  # to allocate and draw one random number
LABELS = {"size": "Image size", "patch": "Patch", "heads": "Heads", "dim": "Dim", "depth": "Depth"}
LARGER = ("patch",)  # settings whose larger values make a network cheaper
ASKED = f"{PAGE}/asked"
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Cost:
    """An estimate for one traced pass.

    Attributes:
        seconds: to build and run the network.
        bytes: peak memory.
        free: free memory in bytes; None if the system does not report it.
    """

    seconds: float
    bytes: int
    free: int | None

    @property
    def fits(self) -> bool:
        """Whether it fits into memory and takes at most `LONGEST` seconds."""
        return self.in_memory and self.seconds <= LONGEST

    @property
    def in_memory(self) -> bool:
        return self.free is None or self.bytes <= SHARE * self.free

    @property
    def quick(self) -> bool:
        """Whether it runs without a request."""
        return self.fits and self.seconds <= SLOW


@dataclass(frozen=True)
class Fix:
    """One change of a setting that makes a network valid or fast enough."""

    label: str
    changes: dict[str, int]


def allowed(source: Source) -> bool:
    """Whether the page's model may run now; if not, shows why and offers one-click fixes."""
    if (source.place, source.name) != ("built", sizes.KINDS[sizes.VIT]):
        return True
    now = session.current(PAGE).settings
    try:
        cost = estimate(now)
    except ValueError as error:
        shared.error_line(error)
        _offer(possible(now))
        return False
    if cost.quick or (cost.fits and st.session_state.get(ASKED) == source):
        return True

    def ask() -> None:
        st.session_state[ASKED] = source

    if not cost.in_memory:
        shared.error_line(
            f"This network needs about {short(cost.bytes, 'memory')} of memory, but only"
            f" {short(cost.free or 0, 'memory')} are free: make it smaller."
        )
    else:
        show = shared.notice if cost.fits else shared.error_line
        show(
            f"This network has {_config(now).tokens:,} tokens: a pass takes about"
            f" {duration(cost.seconds)}."
        )
    run = [(f"Run it (about {duration(cost.seconds)})", ask)] if cost.fits else []
    _offer(smaller(now, lambda other: estimate(other).quick), run)
    return False


def estimate(settings: Settings) -> Cost:
    """The cost of one traced pass of a ViT of these sizes.

    Raises:
        ValueError: if the sizes are inconsistent.
    """
    device = shared.device()
    costs = compute.parts(_config(settings))
    seconds = passes.on_one_core(compute.total(costs, "flops"), device)
    if device == "cpu" and seconds > passes.LONG:
        seconds /= passes.cores()
    weights = SECONDS_A_WEIGHT * compute.total(costs, "parameters")
    return Cost(
        weights + seconds, compute.peak_memory(costs), compute.memory_check.available_memory(device)
    )


def possible(settings: Settings) -> list[Fix]:
    """For each setting that alone makes the settings valid: the nearest such value."""

    def is_valid(other: Settings) -> bool:
        return _config(other) is not None

    def nearest(name: str) -> Iterator[int]:
        yield from sorted(_range(name), key=lambda value: abs(value - settings[name]))

    return _fixes(settings, nearest, is_valid)


def smaller(settings: Settings, fits: Callable[[Settings], bool]) -> list[Fix]:
    """For each setting that alone makes the network cheap enough: the smallest such change.

    Args:
        settings: of the network that is too expensive.
        fits: whether a network is cheap enough.
    """

    def mildest(name: str) -> Iterator[int]:
        now, larger = settings[name], name in LARGER
        if name != "heads":  # does not affect the cost
            values = [value for value in _range(name) if (value > now if larger else value < now)]
            yield from sorted(values, reverse=not larger)

    return _fixes(settings, mildest, fits)


def _config(settings: Settings) -> Any:
    return config_of(sizes.KINDS[sizes.VIT], sizes.of(sizes.VIT, settings))


def _range(name: str) -> Iterable[int]:
    return sizes.RANGES[sizes.VIT][name]


def _fixes(
    settings: Settings,
    values: Callable[[str], Iterator[int]],
    is_right: Callable[[Settings], bool],
) -> list[Fix]:
    fixes = []
    for name in LABELS:
        right = (v for v in values(name) if _holds({**settings, name: v}, is_right))
        value = next(right, None)
        if value is not None:
            fixes.append(Fix(f"{LABELS[name]} {value}", {name: value}))
    return fixes


def _holds(settings: Settings, is_right: Callable[[Settings], bool]) -> bool:
    try:
        return is_right(settings)
    except ValueError:
        return False


def _offer(fixes: list[Fix], more: Iterable[tuple[str, Callable[[], Any]]] = ()) -> None:
    with st.container(key=f"{PAGE}_fixes", horizontal=True, gap="small"):
        for number, fix in enumerate(fixes):
            controls.button(fix.label, f"{PAGE}_fix_{number}", session.assign, PAGE, fix.changes)
        for label, action in more:
            controls.button(label, f"{PAGE}_run", action)
