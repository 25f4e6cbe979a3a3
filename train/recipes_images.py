"""Recipes of image models."""

from random import Random

from models.vit import ViTConfig
from train.digits import NAMES as DIGITS_NAMES
from train.digits import SIDE as DIGITS_SIDE
from train.digits import Digit, Digits
from train.examples import Pointer
from train.loop import Settings
from train.objects import GRID, PLACES, Composite, Objects
from train.objects import NAMES as OBJECTS_NAMES
from train.objects import PATCH as OBJECTS_PATCH
from train.objects import SIDE as OBJECTS_SIDE
from train.recipe import Recipe
from train.shapes import COUNTS, NAMES, SIDE, Scene, Shapes
from train.task import draw

PATCH = 8  # patch size in pixels of the shapes network


def _scene(number: int) -> Scene:
    """A held-out scene."""
    return draw(Shapes(), 1, Random(f"scene {number}"), held_out=True)[0]


def _odd(scene: Scene) -> tuple[int, ...]:
    """Tokens of the odd shape; the class token precedes the patches."""
    patches = scene.patches(scene.shapes[0], PATCH).nonzero()[:, 0].tolist()
    return tuple(1 + patch for patch in patches)


def _pointer(name: str, number: int) -> Pointer:
    scene = _scene(number)
    odd, others = (shape.kind for shape in scene.shapes[:2])
    hint = (
        "Layer {layer}, head {head}: the class token, from which the answers are read, gives"
        f" {{weight}} to one patch of the {odd}, the odd one among the {others}s."
    )
    return Pointer(name, scene, hint, keys=_odd(scene))


SHAPES = Recipe(
    title="Shapes",
    summary="A ViT that finds the odd shape and counts discs: 4 layers of 4 heads, width 64.",
    about="Pictures of 3 to 6 shapes on textured ground, all of a kind but one: which kind is the"
    " odd one, and how many discs are there?",
    hint="In the first layer the class token's heads each have kinds of their own to look at: one"
    " bars, one squares and triangles, one discs and squares. Several of a kind share what one that"
    " stands alone keeps: a patch of the odd shape gets 7 % of the attention, one of the others"
    " 4 %, one of the ground less than 1 %.",
    task=Shapes(),
    config=ViTConfig(
        image=SIDE,
        patch=PATCH,
        classes=len(NAMES) + len(COUNTS),
        dim=64,
        depth=4,
        heads=4,
        mlp=128,
        token_std=0.02,
        position_std=0.02,
    ),
    settings=Settings(steps=4000, batch=32, rate=1.5e-3, every=200),
    exams={"both questions right": (Shapes(), 0.98)},
    pointers=(_pointer("A disc", 1), _pointer("A bar", 2), _pointer("A triangle", 3)),
    questions={
        "Which shape is the odd one out?": NAMES,
        "How many discs are there?": COUNTS,
    },
)


def _digit(name: str, number: int) -> Pointer:
    hint = (
        "Layer {layer}, head {head}: the class token, from which the answer is read, gives"
        " {weight} to one patch. Each patch is one pixel of the scan."
    )
    return Pointer(name, Digit(number), hint)


DIGITS = Recipe(
    title="Digits",
    summary="A ViT that reads handwritten digits: 3 layers of 4 heads, width 48.",
    about="The 1,797 handwritten digits that come with scikit-learn, scanned with 8 × 8 pixels and"
    " enlarged to 32 × 32; every patch is one pixel of the scan.",
    hint="The class token looks at strokes, not at the ground, and most at those by which digits"
    " differ.",
    task=Digits(),
    config=ViTConfig(
        image=DIGITS_SIDE,
        patch=4,
        classes=10,
        dim=48,
        depth=3,
        heads=4,
        mlp=96,
        token_std=0.02,
        position_std=0.02,
    ),
    settings=Settings(steps=1500, batch=64, rate=2e-3, every=150),
    exams={"read right": (Digits(), 0.97)},
    pointers=(_digit("A three", 3), _digit("An eight", 8), _digit("A four", 4)),
    questions={"Which digit is it?": DIGITS_NAMES},
)


def _object(name: str, kind: str) -> Pointer:
    """The first held-out item of a kind."""
    dice = Random("objects")
    item: Composite = next(
        item
        for item in iter(lambda: draw(Objects(), 1, dice, held_out=True)[0], None)
        if item.kind == kind
    )
    hint = (
        "Layer {layer}, head {head}: the class token, from which the answers are read, gives"
        f" {{weight}} to one patch of the {kind}."
    )
    return Pointer(name, item, hint, keys=tuple(1 + patch for patch in item.patches()))


OBJECTS = Recipe(
    title="Objects on photos",
    summary="A ViT that names an object on a photo and tells where it is: 4 layers of 4 heads,"
    " width 64.",
    about="An object of one of twelve kinds, tilted, in many sizes and colours, filled or hollow,"
    " on a piece of a photo: what is it, and in which column and row of patches is its centre?",
    hint="In every layer the class token gives about half of its weight to the object, which"
    " covers a sixth of the picture.",
    task=Objects(),
    config=ViTConfig(
        image=OBJECTS_SIDE,
        patch=OBJECTS_PATCH,
        classes=len(OBJECTS_NAMES) + 2 * GRID,
        dim=64,
        depth=4,
        heads=4,
        mlp=128,
        positions="sincos2d",
        token_std=0.02,
    ),
    settings=Settings(steps=8000, batch=32, rate=2e-3, every=400),
    exams={
        "object right": (Objects("which"), 0.95),
        "place right, to one patch": (Objects("where"), 0.95),
    },
    pointers=(_object("A star", "star"), _object("A heart", "heart"), _object("A moon", "moon")),
    questions={
        "Which object is it?": OBJECTS_NAMES,
        "In which column?": PLACES,
        "In which row?": PLACES,
    },
    place=(1, 2),
)
