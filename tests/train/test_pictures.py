"""Pictures of shapes and of digits: what is in them is what is asked about them."""

import math
from random import Random

import pytest
import torch

from train.digits import Digit, Digits, pictures, scans
from train.shapes import COUNTS, KINDS, NAMES, SIDE, Scene, Shape, Shapes, normalised
from train.task import draw, exam

AREAS = {  # of a shape of radius 1, where it has a closed form
    "disc": math.pi * 0.9**2,
    "square": 1.5**2,
    "triangle": 3 * math.sqrt(3) * 0.5**2,
    "cross": 2 * 1.9 * 0.56 - 0.56**2,
    "ring": math.pi * (0.92**2 - 0.48**2),
    "bar": 2 * 0.6,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_shape_covers_its_area(kind: str) -> None:
    for turn in (0.0, 1.1):
        shape = Shape(kind, 31.0, 33.0, 23.0, turn, (1.0, 1.0, 1.0))
        assert shape.inside().sum() / 23**2 == pytest.approx(AREAS[kind], rel=0.01)
        # soft edges round corners off: a hundredth of a shape this large


def test_one_is_odd_and_none_overlap() -> None:
    for scene in draw(Shapes(), 300, Random("scenes")):
        kinds = [shape.kind for shape in scene.shapes]
        assert 3 <= len(kinds) <= 6
        assert kinds.count(kinds[0]) == 1
        assert len(set(kinds[1:])) == 1
        cover = torch.stack([shape.inside() for shape in scene.shapes])
        assert cover.sum(0).max() <= 1
        assert cover[:, [0, -1]].max() == cover[:, :, [0, -1]].max() == 0  # nor do they leave


def test_what_is_asked_about_a_scene() -> None:
    scenes = draw(Shapes(), 50, Random("asked"))
    batch = Shapes().batch(scenes)
    for scene, (odd, discs) in zip(scenes, batch.target.tolist(), strict=True):
        assert NAMES[odd] == scene.shapes[0].kind
        assert COUNTS[discs] == str(sum(shape.kind == "disc" for shape in scene.shapes))
    pixels = batch.arguments["pixels"]
    assert pixels is not None
    assert pixels.shape == (50, 3, SIDE, SIDE)
    assert torch.equal(pixels[7:8], normalised(scenes[7].pixels()[None]))
    with pytest.raises(ValueError, match="expected 3 to 6 shapes"):
        Shapes(fewest=2)


def test_the_patches_of_a_shape() -> None:
    shape = Shape("square", 20.0, 44.0, 8 / 0.75, 0.0, (1.0, 0.0, 0.0))  # rows 12–28, columns 36–52
    scene = Scene((shape,), (0.5, 0.5, 0.5), 3)
    found = scene.patches(shape, 8).view(8, 8).nonzero().tolist()
    assert found == [[row, col] for row in (1, 2, 3) for col in (4, 5, 6)]


def test_digits_are_the_scans() -> None:
    one = pictures([Digit(3)])[0, 0].float() / 255
    small = torch.nn.functional.avg_pool2d(one[None], 4)[0]
    both = torch.stack([small.flatten(), scans().pixels[3].flatten()])
    assert torch.corrcoef(both)[0, 1] > 0.95  # enlarged smoothly, so a little blurred
    right = pictures([Digit(3, right=0.25)])[0, 0].float() / 255
    assert torch.equal(right[:, :28], one[:, 4:])


def test_every_digit_is_on_one_side() -> None:
    task = Digits()
    held_out = {item.number for item in exam(task, 0)}
    assert 200 < len(held_out) < 320
    trained = {item.number for item in draw(task, 3000, Random("digits"))}
    assert not trained & held_out
    batch = task.batch([Digit(number) for number in range(5)])
    assert batch.target[:, 0].tolist() == scans().answers[:5].tolist()
