"""What a reader may change about a figure: its value at the start, its values, and its control.

`viz.api.figures` makes the parser of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Value = float | str | Sequence[float]
Kind = Literal["count", "number", "numbers", "choice", "word", "sentence"]


class InputError(ValueError):
    """An input that a lesson cannot compute with; the message says what it expected."""


def written(value: Value) -> str:
    """A value as the browser sends it."""
    parts = [value] if isinstance(value, str | int | float) else value
    return ";".join(map(str, parts))


@dataclass(frozen=True)
class Input:
    """An input.

    Attributes:
        kind: "count" for a whole number, "numbers" for as many as at the start, "word" for a text
            that is not empty.
        start: its value at first.
        low: least count or number.
        high: largest count or number.
        most: largest absolute value of numbers.
        choices: values of a choice, or of a count that is chosen by name, with what its button
            says; a value without a text has no button.
        label: of its control.
        step: between two values of its slider.
        log: whether the slider is logarithmic.
        plays: whether it has a button that goes through its values.
        longest: characters of a text that can be typed.
    """

    kind: Kind
    start: Value
    low: float = 0
    high: float = 0
    most: float = 1e4
    choices: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    step: float = 1
    log: bool = False
    plays: bool = False
    longest: int = 80

    def control(self, name: str) -> dict[str, Any]:
        """Its control, as `FigureControl` in types.d.ts defines it."""
        control = {"input": name, "label": self.label}
        if self.choices:
            options = [[value, title] for value, title in self.choices.items() if title]
            return {**control, "kind": "choice", "options": options}
        if self.kind in ("word", "sentence"):
            return {**control, "kind": "text", "longest": self.longest}
        sides = {"min": self.low, "max": self.high, "step": self.step}
        return {**control, "kind": "slider", **sides, "log": self.log, "plays": self.plays}
