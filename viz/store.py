"""Writes the answers that come with the app: `python -m viz.store [NAME …]`.

Names are those of lessons, "first" for the first pictures of all lessons, or "opening" for those of
Explore; without any, all. They
are computed from the weights on this machine, for every state in which a step opens or to which a
button leads: `python -m models.fetch` fetches the models.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from models.catalogue import entry
from viz import course, stored
from viz.api import figures, tracing
from viz.api.endpoint import response_to
from viz.course import real
from viz.course.inputs import written
from viz.course.reading import Lesson
from viz.pages.explore import opening

OPENING, FIRST = "opening", "first"
HEAVY = ("vision", "scale")  # 256 patches; walks of hundreds of steps


def main(names: Sequence[str]) -> None:
    """Writes the files."""
    if not names or OPENING in names:
        models = {each: entry(each).sha256 for each in opening.MODELS}
        answers = {each: first_answers(each) for each in opening.MODELS}
        stored.write(opening.FILE, f"{real.COMMAND} {OPENING}", models, answers)
    if not names or FIRST in names:
        models = {each: real.digest(entry(each)) for each in ("minilm", "smollm2")}
        answers = {
            each.name: first_numbers(each) for each in course.STORIES if each.name not in HEAVY
        }
        stored.write(real.FIRST, f"{real.COMMAND} {FIRST}", models, answers)
    for lesson in course.STORIES:
        if not lesson.real or (names and lesson.name not in names):
            continue
        if missing := [each for each in lesson.real if not real.here(each)]:
            raise SystemExit(f"{lesson.name}: expected {', '.join(missing)} on this machine")
        with real.recording() as kept:
            for query in states(lesson):
                figures.numbers(lesson.name, query)()
        models = {each: real.digest(entry(each)) for each in lesson.real}
        answers = real.rounded(kept[lesson.name])
        file = real.FOLDER / lesson.name / real.FILE
        stored.write(file, f"{real.COMMAND} {lesson.name}", models, answers)


def first_answers(model: str) -> dict[str, dict[str, str]]:
    """What the result of a model's first example answers, by path."""
    entry = tracing.entry_for(opening.of_text(model)).value
    return {path: stored.response(*response_to(entry, path)) for path in opening.paths(model)}


def first_numbers(lesson: Lesson) -> dict[str, Any]:
    """The numbers of a lesson's figure as its first step opens."""
    opened = figures.state(lesson, lesson.steps[0].inputs)
    return real.rounded(figures.answer(lesson, None, opened))


def states(lesson: Lesson) -> Iterator[list[tuple[str, str]]]:
    """The queries of a lesson's figure as its steps open, and after each button."""
    for step in lesson.steps:
        board = [("board", step.name)] if step.board else []
        for inputs in step.states():
            yield [*((name, written(value)) for name, value in inputs.items()), *board]


if __name__ == "__main__":
    main(sys.argv[1:])
