"""Estimated cost of running the Image page's network, and ways to reduce it.

A slow pass runs on request only; one that does not fit this machine is refused.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.architecture import short
from viz.pages import shared
from viz.pages.image import network
from viz.pages.image.network import ViTChoice
from viz.pages.shared import BUILT
from viz.pages.state import session
from viz.pages.widgets import controls
from viz.pages.widgets.running import OVERHEAD, Pass, duration, speed

if TYPE_CHECKING:
    from models.loading.estimate import Estimate

SLOW = 5.0  # seconds: longer passes run on request only
LONGEST = 300.0  # maximum seconds of a pass
LONG = 0.5  # seconds on one core: longer passes get all cores
SHARE = 0.8  # of the free memory; the rest is left to other processes
SECONDS_A_WEIGHT = 2e-8  # to allocate and draw one random number
RANGES: dict[str, Sequence[int]] = {
    "size": range(32, 513, 16),
    "patch": (4, 7, 8, 14, 16, 20, 28, 32, 56),
    "heads": range(1, 17),
    "dim": range(16, 769, 16),
    "depth": range(1, 13),
}
LABELS = {
    "size": "Image size",
    "patch": "Patch",
    "heads": "Heads",
    "dim": "Dim",
    "depth": "Depth",
}
LARGER = ("patch",)  # settings whose larger values make a network cheaper


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


def allowed(page: str, choice: ViTChoice, device: str) -> bool:
    """Whether the network may run now; if not, shows why and offers one-click fixes."""
    if choice.model != BUILT:
        return True
    try:
        found = estimate(choice, device)
    except ValueError as error:
        shared.error_line(error)
        _offer(page, possible(choice))
        return False
    asked = f"{page}/asked"
    if found.quick or (found.fits and st.session_state.get(asked) == choice):
        return True

    def ask() -> None:
        st.session_state[asked] = choice

    if not found.in_memory:
        shared.error_line(
            f"This network needs about {short(found.bytes, 'memory')} of memory, but only"
            f" {short(found.free or 0, 'memory')} are free: make it smaller."
        )
    else:
        show = shared.notice if found.fits else shared.error_line
        show(
            f"This network has {choice.config().tokens:,} tokens: a pass takes about"
            f" {duration(found.seconds)}."
        )
    run = [(f"Run it (about {duration(found.seconds)})", ask)] if found.fits else []
    _offer(page, smaller(choice, lambda other: estimate(other, device).quick), run)
    return False


def estimate(choice: ViTChoice, device: str) -> Cost:
    """The cost of one traced pass of a network built here.

    Raises:
        ValueError: if the sizes are inconsistent.
    """
    from models.cost.count import parts, total
    from models.cost.memory import peak_memory
    from models.cost.memory_check import available_memory

    made = parts(choice.config())
    work = OVERHEAD * total(made, "flops") / speed(device)
    cores = shared.cores() if device == "cpu" and work > LONG else 1
    weights = SECONDS_A_WEIGHT * total(made, "parameters")
    return Cost(weights + work / cores, peak_memory(made), available_memory(device))


def pass_of(page: str, id: str, choice: ViTChoice, device: str) -> Pass:
    """The pass over one picture.

    Args:
        page: prefix of widget keys.
        id: of what it computes.
        choice: the network.
        device: on which it runs.
    """

    def cost() -> "tuple[Estimate, str]":
        from models.cost.count import parts, total
        from models.cost.memory import peak_memory
        from models.loading.estimate import Estimate

        made = parts(network.opened(choice, device).network.config)
        return Estimate(total(made, "flops"), peak_memory(made)), device

    return Pass(page, id, cost)


def is_long(choice: ViTChoice, device: str) -> bool:
    """Whether a pass is long enough to use all cores."""
    from models.cost.count import parts, total

    return choice.model == BUILT and OVERHEAD * total(
        parts(choice.config()), "flops"
    ) > LONG * speed(device)


def possible(choice: ViTChoice) -> list[Fix]:
    """For each setting that alone makes the settings valid: the nearest such value."""

    def fits(other: ViTChoice) -> bool:
        return other.config() is not None

    def nearest(name: str) -> Iterator[int]:
        now = getattr(choice, name)
        yield from sorted(RANGES[name], key=lambda value: abs(value - now))

    return _fixes(choice, nearest, fits)


def smaller(choice: ViTChoice, fits: Callable[[ViTChoice], bool]) -> list[Fix]:
    """For each setting that alone makes the network cheap enough: the smallest such change.

    Args:
        choice: the network that is too expensive.
        fits: whether a network is cheap enough.
    """

    def mildest(name: str) -> Iterator[int]:
        now, larger = getattr(choice, name), name in LARGER
        if name != "heads":  # does not affect the cost
            values = [value for value in RANGES[name] if (value > now if larger else value < now)]
            yield from sorted(values, reverse=not larger)

    return _fixes(choice, mildest, fits)


def _fixes(
    choice: ViTChoice, values: Callable[[str], Iterator[int]], fits: Callable[[ViTChoice], bool]
) -> list[Fix]:
    found = []
    for name in RANGES:
        works = next((v for v in values(name) if _works(replace(choice, **{name: v}), fits)), None)
        if works is not None:
            found.append(Fix(f"{LABELS[name]} {works}", {name: works}))
    return found


def _works(choice: ViTChoice, fits: Callable[[ViTChoice], bool]) -> bool:
    try:
        return fits(choice)
    except ValueError:
        return False


def _offer(page: str, fixes: list[Fix], more: Iterable[tuple[str, Callable[[], Any]]] = ()) -> None:
    with st.container(key=f"{page}_fixes", horizontal=True, gap="small"):
        for number, fix in enumerate(fixes):
            controls.button(fix.label, f"{page}_fix_{number}", session.assign, page, fix.changes)
        for label, action in more:
            controls.button(label, f"{page}_run", action)
