"""Colours: legible on their grounds, evenly spaced, and told apart by colour-blind readers."""

import itertools

import numpy as np
import pytest

from viz import theme
from viz.theme import COLOURS, MODES, TERMS, Mode

# Machado, Oliveira and Fernandes (2009), severity 1, on linear sRGB
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(colours) -> np.ndarray:
    encoded = np.asarray(colours) / 255
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def oklab(light: np.ndarray) -> np.ndarray:
    return np.cbrt(np.clip(light, 0, None) @ LMS.T) @ OKLAB.T


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(linear(theme.rgb(c)) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", MODES)
def test_text_is_legible_on_both_grounds(mode: Mode):
    colours = COLOURS[mode]
    for ground in (colours.background, colours.surface):
        assert contrast(colours.text, ground) >= 12
        assert contrast(colours.muted, ground) >= 4.5
        assert contrast(colours.primary, ground) >= 4.5


@pytest.mark.parametrize("mode", MODES)
def test_head_colours_stand_out_from_the_ground(mode: Mode):
    assert len(COLOURS[mode].heads) == 16
    for colour in COLOURS[mode].heads:
        assert contrast(colour, COLOURS[mode].background) >= 3
        lightness, *hue = oklab(linear(theme.rgb(colour)))
        assert lightness >= {"light": 0.37, "dark": 0.61}[mode]
        assert np.hypot(*hue) >= 0.075


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("mode", MODES)
def test_no_two_heads_look_alike(mode: Mode, sight: str):
    light = np.array([linear(theme.rgb(c)) for c in COLOURS[mode].heads]) @ np.transpose(
        SIGHTS[sight]
    )
    for one, other in itertools.combinations(oklab(light), 2):
        assert np.linalg.norm(one - other) >= 0.085


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("mode", MODES)
def test_terms_are_legible_and_no_two_look_alike(mode: Mode, sight: str):
    colours, terms = COLOURS[mode], TERMS[mode].values()
    for term in terms:
        assert contrast(term, colours.background) >= 4.5
        assert contrast(term, colours.surface) >= 4.5
    light = np.array([linear(theme.rgb(c)) for c in (*terms, colours.text, colours.muted)])
    for one, other in itertools.combinations(oklab(light @ np.transpose(SIGHTS[sight])), 2):
        assert np.linalg.norm(one - other) >= 0.07


@pytest.mark.parametrize("mode", MODES)
def test_sequential_lightness_is_linear_and_starts_at_the_ground(mode: Mode):
    ramp = theme.sequential(mode)
    assert ramp.dtype == np.uint8
    assert ramp.shape == (256, 3)
    lightness = oklab(linear(ramp))[:, 0]
    even = np.linspace(lightness[0], lightness[-1], 256)
    # a byte is 0.004 wide in the darkest colours
    np.testing.assert_allclose(lightness, even, atol=0.004)
    ground = oklab(linear(theme.rgb(COLOURS[mode].background)))[0]
    assert abs(lightness[0] - ground) < 0.03
    assert abs(lightness[-1] - lightness[0]) > 0.7


@pytest.mark.parametrize("mode", MODES)
def test_sequential_order_survives_colour_blindness(mode: Mode):
    for sight in SIGHTS.values():
        light = linear(theme.sequential(mode)) @ np.transpose(sight)
        lightness = oklab(light)[::8, 0]
        assert (np.diff(lightness) < 0).all() if mode == "light" else (np.diff(lightness) > 0).all()


@pytest.mark.parametrize("mode", MODES)
def test_diverging_sides_mirror_in_lightness_and_meet_near_the_ground(mode: Mode):
    lightness = oklab(linear(theme.diverging(mode)))[:, 0]
    np.testing.assert_allclose(lightness, lightness[::-1], atol=0.004)
    ground = oklab(linear(theme.rgb(COLOURS[mode].background)))[0]
    assert abs(lightness[127] - ground) < 0.04
    negative, positive = oklab(linear(theme.diverging(mode)))[[0, -1], 2]
    assert negative < -0.05  # blue
    assert positive > 0.05  # orange
