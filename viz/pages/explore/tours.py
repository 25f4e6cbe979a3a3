"""Tours: three or four steps for each example, whose buttons do what they say.

`tours.json` has them by model and example. A step is read before its button is pressed; the next
one says what came of it:

- `text`: what is seen, with at most one number, in percent;
- `button` and `do`: what it is called, and what it does, in order: {"select": what a link calls
  it}, {"input": a text}, {"off": true} (the chosen head, by zero), {"undo": true};
- `choices`: answers to the question of the text, one of them right, each with a reply;
- `number`: for the tests, which walk every tour: the token whose weight in the chosen row is told,
  or the next word whose chance it is.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

Step = dict[str, Any]
FILE = Path(__file__).with_suffix(".json")


@cache
def tours() -> dict[str, dict[str, list[Step]]]:
    """The steps, by model and by name of an example."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def example_of(model: str, text: str) -> str:
    """The example whose tour changes its text to this one; "" if none does."""
    for name, walk in tours().get(model, {}).items():
        if any(done.get("input") == text for step in walk for done in step.get("do", ())):
            return name
    return ""


def steps(model: str, example: str, text: str = "") -> list[Step]:
    """The steps that the browser shows; none of an example without a tour.

    Args:
        model: of the list.
        example: its name.
        text: of the example, to go back to.
    """
    listed = tours().get(model, {}).get(example, [])
    without_number = [{name: each[name] for name in each if name != "number"} for each in listed]
    return [{**without_number[0], "input": text}, *without_number[1:]] if without_number else []
