"""Pictures of shapes, digits and objects on photos: what is in them is what is asked about them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from train import objects, shapes
from train.digits import Digit, Digits, scans
from train.drawing import SIDE, Distance, Shape, covered, distances, normalised
from train.objects import GRID, PATCH, TILE, Composite, Objects, photograph
from train.recipes import RECIPES
from train.shapes import Shapes
from train.task import draw, right

RING = math.pi * (0.92**2 - 0.48**2)


def shoelace(corners: Any) -> float:
    pairs = zip(corners, [*corners[1:], corners[0]], strict=True)
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs)) / 2


AREAS: list[tuple[str, float, Distance]] = [  # inside a radius of 1, where it has a closed form
    *(
        (kind, area, shapes.KINDS[kind])
        for kind, area in {
            "disc": math.pi * 0.9**2,
            "square": 1.5**2,
            "triangle": 3 * math.sqrt(3) * 0.5**2,
            "cross": 2 * 1.9 * 0.56 - 0.56**2,
            "ring": RING,
            "bar": 2 * 0.6,
        }.items()
    ),
    ("disc", math.pi * 0.88**2, objects.KINDS["disc"]),
    ("ring", RING, objects.KINDS["ring"]),
    *((kind, shoelace(c), objects.KINDS[kind]) for kind, c in objects.CORNERS.items()),
]


@pytest.mark.parametrize(("kind", "area", "distance"), AREAS)
def test_the_inside_of_a_kind_has_its_area(kind: str, area: float, distance: Distance) -> None:
    """Also turned: its pixels are those of the outline, softened by half a pixel."""
    for turn in (0.0, 1.1):
        shape = Shape(kind, 31.0, 33.0, 23.0, turn, (1.0, 1.0, 1.0))
        cover = covered(distances({kind: distance}, [shape]))
        assert float(cover.sum()) / 23**2 == pytest.approx(area, rel=0.02)


def test_one_is_odd_and_none_overlap() -> None:
    for scene in draw(Shapes(), 300, Random("scenes")):
        kinds = [shape.kind for shape in scene.shapes]
        assert 3 <= len(kinds) <= 6
        assert kinds.count(kinds[0]) == 1
        assert len(set(kinds[1:])) == 1
        cover = covered(distances(shapes.KINDS, scene.shapes))
        assert cover.sum(0).max() <= 1
        assert cover[:, [0, -1]].max() == cover[:, :, [0, -1]].max() == 0  # nor do they leave


def test_what_is_asked_about_a_scene() -> None:
    scenes = draw(Shapes(), 50, Random("asked"))
    batch = Shapes().batch(scenes)
    for scene, (odd, discs) in zip(scenes, batch.target.tolist(), strict=True):
        assert shapes.NAMES[odd] == scene.shapes[0].kind
        assert shapes.COUNTS[discs] == str(sum(shape.kind == "disc" for shape in scene.shapes))
    pixels = batch.arguments["pixels"]
    assert pixels is not None
    assert pixels.shape == (50, 3, SIDE, SIDE)
    assert torch.equal(pixels[7:8], normalised(Shapes().pictures([scenes[7]])))


def test_digits_are_the_scans() -> None:
    one = Digits().pictures([Digit(3)])[0, 0].float() / 255
    small = F.avg_pool2d(one[None], 4)[0]
    both = torch.stack([small.flatten(), scans()[0][3].flatten()])
    assert torch.corrcoef(both)[0, 1] > 0.95  # enlarged smoothly, so a little blurred
    right = Digits().pictures([Digit(3, right=0.25)])[0, 0].float() / 255
    assert torch.equal(right[:, :28], one[:, 4:])


def composite(row: float, col: float, radius: float, **other: Any) -> Composite:
    shape = Shape("disc", row, col, radius, 0.0, (0.0, 0.0, 0.0))
    plain: dict[str, Any] = {"photo": "china", "tile": (0, 0), "crop": (0.0, 0.0, float(TILE))}
    return Composite(shape, False, **{**plain, **other})


def test_an_object_is_drawn_where_it_is_said_to_be() -> None:
    white = (9.0, 9.0, 9.0)  # every pixel of the photo is white after this gain
    item = composite(19.0, 45.0, 14.0, gain=white)
    (pixels,) = Objects().pictures([item])
    rows, cols = (pixels < 40).all(0).nonzero().float().unbind(1)
    assert (rows.mean() + 0.5, cols.mean() + 0.5) == (
        pytest.approx(19, abs=0.3),
        pytest.approx(45, abs=0.3),
    )
    assert item.patch == (19 // PATCH, 45 // PATCH)
    hollow = replace(item, hollow=True)
    assert Objects().pictures([item, hollow])[0].equal(pixels)
    assert (Objects().pictures([hollow])[0, :, 19, 45] == 255).all()


def test_a_crop_is_that_part_of_the_photo() -> None:
    """A whole tile, one pixel of the photo a pixel, against the photo’s own pixels."""
    item = composite(32.0, 32.0, 12.0, photo="flower", tile=(1, 2), crop=(7.0, 11.0, float(SIDE)))
    top, left = TILE + 7, 2 * TILE + 11
    wanted = photograph("flower")[:, top : top + SIDE, left : left + SIDE] * 255
    difference = (Objects().pictures([item])[0].float() - wanted).abs()
    difference[:, 16:48, 16:48] = 0  # the object
    assert difference.max() <= 1


def test_what_is_asked_about_an_object() -> None:
    items = draw(Objects(), 40, Random("asked"))
    batch = Objects().batch(items)
    assert batch.classes == (len(objects.NAMES), GRID, GRID)
    for item, (kind, col, row) in zip(items, batch.target.tolist(), strict=True):
        assert objects.NAMES[kind] == item.shape.kind
        assert (row, col) == (int(item.shape.row) // PATCH, int(item.shape.col) // PATCH)


def test_one_patch_off_counts_where_and_two_do_not() -> None:
    batch = Objects("where").batch(draw(Objects(), 3, Random("off")))
    kinds = batch.classes[0]
    logits = torch.zeros(3, 3, kinds)
    for number, (kind, col, row) in enumerate(batch.target.tolist()):
        off = [0, 1, 2][number]
        logits[number, 0, (kind + 1) % kinds] = 5  # which is not graded
        logits[number, 1, col + off if col + off < GRID else col - off] = 5
        logits[number, 2, row] = 5
    assert right(logits, batch).tolist() == [True, True, False]


def tokens(kinds: Mapping[str, Distance], shape: Shape) -> list[int]:
    """Behind the class token, the patches of which a shape covers at least an eighth."""
    cover: Tensor = F.avg_pool2d(covered(distances(kinds, [shape])), PATCH).flatten() >= 1 / 8
    return (1 + cover.nonzero()[:, 0]).tolist()


def test_examples_point_at_what_they_name() -> None:
    for name, kinds in (("shapes", shapes.KINDS), ("objects", objects.KINDS)):
        recipe = RECIPES[name]
        for pointer in recipe.pointers:
            item = recipe.item(pointer)
            shape = item.shapes[0] if name == "shapes" else item.shape
            assert pointer.name == f"A {shape.kind}"
            assert shape.kind in pointer.hint
            assert list(pointer.keys) == tokens(kinds, shape)
