"""All colours, light and dark: page colours, weight ramps, one colour per head."""

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

# Some colours of each ramp, built in OKLab (B. Ottosson, "A perceptual color space for image
# processing", 2020) with lightness linear in the index: perceptually uniform. Those of both sides
# of zero have the same lightness.
_SEQUENTIAL: dict[Mode, str] = {
    "light": (
        "f6fbfc edf7f9 e4f4f5 daf0f1 d1eced c8e8e9 bee5e5 b5e1e0 acdddc a2dad7 99d6d3 90d2ce "
        "86ceca 7dcac6 74c5c3 6ac1c0 61bdbe 57b8bc 4db4ba 43afb8 39aab7 2ea5b6 22a0b5 149bb4 "
        "0096b2 0090b0 008bad 0085aa 007fa8 007aa6 0074a4 006fa2 0069a1 00639f 005d9f 05579d "
        "10519a 174b96 1b4591 1f3f8c 213a87 233482 242f7c 242a76 24256f 242169 231c63 22175c "
        "211356 1f0e4f 1d0a49 1c0543"
    ),
    "dark": (
        "151620 171927 1a1c2f 1d1f36 20223e 232546 26274e 292a56 2c2d5e 2f3066 31336e 343776 "
        "363a7d 383e84 38438b 394891 394d97 38529d 3657a2 355da7 3263ab 2f69af 2c6fb3 2875b6 "
        "247bb9 1f81bc 1987bf 148dc2 0f93c4 0c98c6 0c9ec8 0fa4c9 15aaca 1dafcb 25b5cb 2ebbcb "
        "37c0ca 41c5ca 4bcbc8 57d0c6 62d5c4 6fd9c1 7cdebe 8ae2bb 98e5b9 a6e9b6 b4ecb4 c2efb3 "
        "cff2b3 dcf5b3 e8f7b5 f4fab8"
    ),
}
_DIVERGING: dict[Mode, str] = {
    "light": (
        "00468c 155195 275c9c 3767a3 4572aa 547db1 6288b7 7193be 7f9ec5 8ca7ca 9bb2d1 "
        "aabed7 b9c9de c8d4e4 d7e0ea e7ebf0 f7f7f7 f7f7f7 efe9e7 e7dcd8 dfcfc9 d7c2ba "
        "cfb6ab c7a99c bf9d8d b7907f af8573 a77965 9f6d57 966149 8e553b 85492d 7d3d1e "
        "74310c"
    ),
    "dark": (
        "7bcfff 6ec3f3 68b7e3 63aad3 5d9ec3 5892b3 5286a4 4d7a94 476f85 436579 3d596a "
        "384e5c 32444e 2d3941 272f34 212528 1c1c1c 1c1c1c 272421 342c27 40352d 4d3d33 "
        "5a4639 684f3f 765945 84624b 906a51 9f7457 ae7e5d bd8864 cc926a dc9c71 eca677 "
        "fcb17e"
    ),
}


def rgb(colour: str) -> tuple[int, int, int]:
    """The three bytes of #rrggbb."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@cache
def sequential(mode: Mode) -> np.ndarray:
    """Ramp for weights: entry 0 is near the background, 255 is the largest weight.

    Returns:
        uint8 [256, 3], read-only; lightness falls (light) or rises (dark) linearly.
    """
    return _ramp(_SEQUENTIAL[mode], np.arange(0, STEPS, 5))


@cache
def diverging(mode: Mode) -> np.ndarray:
    """Ramp for differences: 0 is the most negative, 127 and 128 are zero, 255 the most positive.

    Returns:
        uint8 [256, 3], read-only; lightness is linear on each side and the same on both.
    """
    half = STEPS // 2
    places = np.r_[np.linspace(0, half - 1, 17), np.linspace(half, STEPS - 1, 17)]
    return _ramp(_DIVERGING[mode], places.round())


def _ramp(colours: str, places: np.ndarray) -> np.ndarray:
    """The colours between some that are given, at their places."""
    known = np.array([[*bytes.fromhex(colour)] for colour in colours.split()])
    steps = np.arange(STEPS)
    channels = [np.interp(steps, places.round(), channel) for channel in known.T]
    ramp = np.rint(np.stack(channels, -1)).astype(np.uint8)
    ramp.setflags(write=False)
    return ramp
