"""All colours, light and dark: page colours, weight ramps, one colour per head.

Ramps are built in OKLab (B. Ottosson, "A perceptual color space for image processing", 2020),
with lightness linear in the index: perceptually uniform.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

Mode = Literal["light", "dark"]
MODES: tuple[Mode, ...] = ("light", "dark")
STEPS = 256


@dataclass(frozen=True)
class Colours:
    """Page colours of one mode, as #rrggbb."""

    background: str
    surface: str
    text: str
    muted: str
    line: str
    primary: str
    heads: tuple[str, ...]


# Sixteen head colours per mode: pairwise OKLab distance is at least 0.085 for normal vision and for
# full protanopia, deuteranopia and tritanopia; contrast with the background is at least 3. None is
# nearly black (light: lightness of at least 0.37; dark: 0.61) or grey (chroma of at least 0.075).
# Each is as far as possible from those before it.
COLOURS: dict[Mode, Colours] = {
    "light": Colours(
        background="#ffffff",
        surface="#f3f5f9",
        text="#141821",
        muted="#5b6274",
        line="#d7dce6",
        primary="#4a4fc9",
        heads=(
            *("#0374e4", "#850506", "#fa5f15", "#531991", "#ac5e68", "#b283be", "#d6797c"),
            *("#ad2707", "#884363", "#6c4a9e", "#1523ff", "#d5420f", "#8e68a5", "#0b04ca"),
            *("#2b96fe", "#67235b"),
        ),
    ),
    "dark": Colours(
        background="#12141b",
        surface="#1b1e28",
        text="#e9ebf2",
        muted="#a2a9ba",
        line="#343a4a",
        primary="#a3a6ff",
        heads=(
            *("#94b6fe", "#fef0a4", "#9b860d", "#8169fd", "#e62c8b", "#f998ac", "#94fffe"),
            *("#b1af05", "#bed407", "#fa5dbe", "#cd8a73", "#cc42c3", "#bffc05", "#fcc49f"),
            *("#71dfed", "#7199fd"),
        ),
    ),
}

# The parts of attention in the course: text, formula, figure and code share these. Pairwise OKLab
# distance is at least 0.07 for normal and colour-blind vision; contrast with both grounds is at
# least 4.5.
TERMS: dict[Mode, dict[str, str]] = {
    "light": {
        "query": "#99210e",
        "key": "#1b5e40",
        "value": "#84007d",
        "weight": "#521dcd",
        "output": "#836c08",
    },
    "dark": {
        "query": "#fca13b",
        "key": "#8edbbf",
        "value": "#f6a0f6",
        "weight": "#7c93ef",
        "output": "#f6dc76",
    },
}

# Knots of a ramp: lightness is linear between the ends; chroma and hue (degrees) are interpolated.
_SEQUENTIAL = {
    "light": ((0.985, 0.21), (0.006, 0.075, 0.115, 0.135, 0.105), (205, 192, 222, 262, 291)),
    "dark": ((0.205, 0.965), (0.020, 0.115, 0.125, 0.110, 0.085), (278, 276, 240, 192, 112)),
}
_DIVERGING = {
    "light": ((0.40, 0.975), (0.135, 0.105, 0.0), (255, 45)),
    "dark": ((0.82, 0.225), (0.115, 0.110, 0.0), (235, 55)),
}

_LINEAR_FROM_LMS = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)
_LMS_FROM_OKLAB = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)


def rgb(colour: str) -> tuple[int, int, int]:
    """The three bytes of #rrggbb."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@cache
def sequential(mode: Mode) -> np.ndarray:
    """Ramp for weights: entry 0 is near the background, 255 is the largest weight.

    Returns:
        uint8 [256, 3], read-only; lightness falls (light) or rises (dark) linearly.
    """
    ends, chroma, hue = _SEQUENTIAL[_checked(mode)]
    at = np.linspace(0, 1, STEPS)
    return _ramp(np.interp(at, (0, 1), ends), _smooth(at, chroma), _smooth(at, hue))


@cache
def diverging(mode: Mode) -> np.ndarray:
    """Ramp for differences: 0 is the most negative, 127 and 128 are zero, 255 the most positive.

    Returns:
        uint8 [256, 3], read-only; lightness is linear on each side and the same on both.
    """
    (end, middle), (cold, warm, neutral), (cold_hue, warm_hue) = _DIVERGING[_checked(mode)]
    side = np.linspace(1, 0, STEPS // 2)
    lightness = middle + (end - middle) * side
    halves = [
        _ramp(lightness, neutral + (strength - neutral) * side, np.full(STEPS // 2, float(hue)))
        for strength, hue in ((cold, cold_hue), (warm, warm_hue))
    ]
    return _frozen(np.concatenate([halves[0], halves[1][::-1]]))


def _checked(mode: str) -> Mode:
    for each in MODES:
        if mode == each:
            return each
    raise ValueError(f"expected mode 'light' or 'dark', received {mode!r}")


def _frozen(colours: np.ndarray) -> np.ndarray:
    colours.setflags(write=False)
    return colours


def _smooth(at: np.ndarray, knots: tuple[float, ...]) -> np.ndarray:
    """Catmull-Rom interpolation of evenly spaced knots: smooth, so no false edges in a picture."""
    padded = np.array([2 * knots[0] - knots[1], *knots, 2 * knots[-1] - knots[-2]], dtype=float)
    place = at * (len(knots) - 1)
    left = np.minimum(place.astype(int), len(knots) - 2)
    t = place - left
    a, b, c, d = (padded[left + i] for i in range(4))
    cubic = t * (t * (t * (3 * (b - c) + d - a) + 2 * a - 5 * b + 4 * c - d) + c - a)
    return b + cubic / 2


def _ramp(lightness: np.ndarray, chroma: np.ndarray, hue: np.ndarray) -> np.ndarray:
    """OKLCh to sRGB bytes; out-of-gamut colours lose chroma, never lightness."""
    low, high = np.zeros_like(chroma), chroma.copy()
    inside = _inside(_linear(lightness, high, hue))
    for _ in range(30):
        middle = (low + high) / 2
        fits = _inside(_linear(lightness, middle, hue))
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    light = np.clip(_linear(lightness, np.where(inside, chroma, low), hue), 0, 1)
    encoded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return _frozen((encoded * 255).round().astype(np.uint8))


def _linear(lightness: np.ndarray, chroma: np.ndarray, hue: np.ndarray) -> np.ndarray:
    angle = np.deg2rad(hue)
    oklab = np.stack([lightness, chroma * np.cos(angle), chroma * np.sin(angle)], axis=-1)
    return (oklab @ _LMS_FROM_OKLAB.T) ** 3 @ _LINEAR_FROM_LMS.T


def _inside(linear: np.ndarray) -> np.ndarray:
    return np.all((linear >= -1e-6) & (linear <= 1 + 1e-6), axis=-1)
