"""All tasks by name."""

from train.dates import Dates
from train.digits import Digits
from train.induction import Induction
from train.objects import Objects
from train.reading import Masked, NextWord
from train.sequences import Brackets, Modular, Rearrange
from train.shapes import Shapes
from train.task import Task

TASKS: dict[str, Task] = {
    "reverse": Rearrange("reverse"),
    "copy": Rearrange("copy"),
    "sort": Rearrange("sort"),
    "brackets": Brackets(),
    "modular addition": Modular(),
    "induction": Induction(),
    "dates": Dates(),
    "grammar": Masked(),
    "grammar-next": NextWord(),
    "shapes": Shapes(),
    "digits": Digits(),
    "objects": Objects(),
}
