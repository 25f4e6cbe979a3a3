"""Stores what lessons take from pretrained models: `python -m viz.api.record [LESSON …]`.

Every state in which a step opens or to which a button leads is computed, from the weights on this
machine. All models that lessons use have to be there: `python -m models.fetch` fetches them.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from models.catalogue import entry
from viz.api import figures
from viz.lessons import course, real
from viz.lessons.inputs import Value
from viz.lessons.story import Lesson


def main(names: Sequence[str]) -> None:
    """Writes the files of some lessons, or of all."""
    for lesson in course.STORIES:
        models = lesson.real
        if not models or (names and lesson.name not in names):
            continue
        missing = [each for each in models if not real.here(each)]
        if missing:
            raise SystemExit(f"{lesson.name}: expected {', '.join(missing)} on this machine")
        with real.recording() as kept:
            for query in states(lesson):
                figures.numbers(lesson.name, query)()
        written = {
            "command": f"{real.COMMAND} {lesson.name}",
            "models": {each: real.digest(entry(each)) for each in models},
            "answers": real.rounded(kept[lesson.name]),
        }
        file = real.FOLDER / lesson.name / real.FILE
        file.write_text(f"{_lines(written)}\n", encoding="utf-8")


def states(lesson: Lesson) -> Iterator[list[tuple[str, str]]]:
    """The queries of a lesson's figure as its steps open, and after each button."""
    for step in lesson.steps:
        board = [("board", step.name)] if step.board else []
        for inputs in step.states():
            yield [*((name, _text(value)) for name, value in inputs.items()), *board]


def _text(value: Value) -> str:
    """An input as the browser sends it."""
    parts = [value] if isinstance(value, str | int | float) else value
    return ";".join(map(str, parts))


def _lines(written: dict[str, Any]) -> str:
    """JSON with a line for each answer."""
    answers = written.pop("answers")
    head = json.dumps(written, indent=1)[:-2]
    lines = ",\n".join(
        f"  {json.dumps(call, ensure_ascii=False)}: {json.dumps(answer, ensure_ascii=False)}"
        for call, answer in answers.items()
    )
    return f'{head},\n "answers": {{\n{lines}\n }}\n}}'


if __name__ == "__main__":
    main(sys.argv[1:])
