"""Objects on photos: what is drawn is what is asked about, and held-out tiles are never seen."""

import math
from dataclasses import replace
from random import Random

import pytest
import torch

from train.objects import (
    CORNERS,
    GRID,
    KINDS,
    NAMES,
    PATCH,
    PLACES,
    SIDE,
    TILE,
    Composite,
    Objects,
    photograph,
    render,
)
from train.task import draw, right

WHITE, BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)


def shoelace(corners: list[tuple[float, float]]) -> float:
    pairs = zip(corners, [*corners[1:], corners[0]], strict=True)
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs)) / 2


AREAS = {
    "disc": math.pi * 0.88**2,
    "ring": math.pi * (0.92**2 - 0.48**2),
    **{name: shoelace(list(corners)) for name, corners in CORNERS.items()},
}


@pytest.mark.parametrize("kind", AREAS)
def test_the_inside_of_a_kind_has_its_area(kind: str) -> None:
    across = torch.linspace(-1.2, 1.2, 481)
    distance = KINDS[kind](across[None].expand(481, -1), across[:, None].expand(-1, 481))
    area = float((distance < 0).float().mean()) * (2.4 + 0.005) ** 2
    assert area == pytest.approx(AREAS[kind], rel=0.01)  # cells of 1/200 of a radius


@pytest.mark.parametrize("kind", KINDS)
def test_no_distance_is_longer_than_it_is(kind: str) -> None:
    """From a point to the next the distance changes by at most the way between them."""
    across = torch.linspace(-1.2, 1.2, 97)
    distance = KINDS[kind](across[None].expand(97, -1), across[:, None].expand(-1, 97))
    step = 2.4 / 96 + 1e-5
    assert distance.diff(dim=0).abs().max() <= step
    assert distance.diff(dim=1).abs().max() <= step


def test_an_object_is_drawn_where_it_is_said_to_be() -> None:
    white = (9.0, 9.0, 9.0)  # every pixel of the photo is white after this gain
    crop = (0.0, 0.0, float(TILE))
    item = Composite("disc", 19.0, 45.0, 14.0, 0.0, BLACK, False, "china", (0, 0), crop, gain=white)
    dark = (item.pixels() < 40).all(0)
    assert item.pixels().shape == (3, SIDE, SIDE)
    rows, cols = dark.nonzero().float().unbind(1)
    assert (rows.mean() + 0.5, cols.mean() + 0.5) == (
        pytest.approx(19, abs=0.3),
        pytest.approx(45, abs=0.3),
    )
    assert item.patch == (19 // PATCH, 45 // PATCH)
    centre = item.patch[0] * GRID + item.patch[1]
    assert centre in item.patches()
    assert render([item, replace(item, colour=WHITE)])[0].equal(item.pixels())


def test_a_crop_is_that_part_of_the_photo() -> None:
    """A whole tile, one pixel of the photo a pixel, against the photo’s own pixels."""
    item = Composite(
        "disc", 32.0, 32.0, 12.0, 0.0, BLACK, False, "flower", (1, 2), (7.0, 11.0, float(SIDE))
    )
    top, left = TILE + 7, 2 * TILE + 11
    wanted = photograph("flower")[:, top : top + SIDE, left : left + SIDE] * 255
    difference = (item.pixels().float() - wanted).abs()
    difference[:, 16:48, 16:48] = 0  # the object
    assert difference.max() <= 1


def test_what_is_asked_about_an_object() -> None:
    items = draw(Objects(), 40, Random("asked"))
    batch = Objects().batch(items)
    assert batch.classes == (len(NAMES), len(PLACES), len(PLACES))
    for item, (kind, col, row) in zip(items, batch.target.tolist(), strict=True):
        assert NAMES[kind] == item.kind
        assert (row, col) == (int(item.row) // PATCH, int(item.col) // PATCH)


def test_tiles_of_held_out_items_are_never_trained_on() -> None:
    learned, asked = (
        {(item.photo, item.tile) for item in draw(Objects(), 400, Random("t"), held_out=held)}
        for held in (False, True)
    )
    assert not learned & asked
    assert len(asked) > 3
    for item in draw(Objects(), 100, Random("c")):
        top, left, side = item.crop
        assert min(top, left) >= 0
        assert max(top, left) + side <= TILE  # nor does a crop reach into another tile


def test_one_patch_off_counts_where_and_two_do_not() -> None:
    batch = Objects("where").batch(draw(Objects(), 3, Random("off")))
    classes = batch.classes

    class Out:
        logits = torch.zeros(3, sum(classes))

    for number, (kind, col, row) in enumerate(batch.target.tolist()):
        off = [0, 1, 2][number]
        Out.logits[number, (kind + 1) % len(NAMES)] = 5  # which is not graded
        Out.logits[number, classes[0] + (col + off if col + off < GRID else col - off)] = 5
        Out.logits[number, sum(classes[:2]) + row] = 5
    assert right(Out(), batch).tolist() == [True, True, False]
