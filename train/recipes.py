"""Recipes of the app's models, by the name that `load` takes."""

from train.recipe import Recipe
from train.recipes_images import DIGITS, OBJECTS, SHAPES
from train.recipes_letters import INDUCTION, REVERSE
from train.recipes_words import DATES, GRAMMAR, GRAMMAR_NEXT

RECIPES: dict[str, Recipe] = {
    "reverse": REVERSE,
    "induction": INDUCTION,
    "dates": DATES,
    "grammar": GRAMMAR,
    "grammar-next": GRAMMAR_NEXT,
    "shapes": SHAPES,
    "digits": DIGITS,
    "objects": OBJECTS,
}
