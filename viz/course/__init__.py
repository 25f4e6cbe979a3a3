"""The course: a folder for each lesson, with its texts, its numbers and its figure."""

from pathlib import Path

from viz.course.reading import FILE, Lesson, read

FOLDER = Path(__file__).parent
SHORT = ("dictionary", "by_hand", "query_key_value", "heads", "heads_do")  # attention in 45 minutes
_LESSONS = (read(path.parent) for path in FOLDER.glob(f"*/{FILE}"))
COURSE = tuple(sorted(_LESSONS, key=lambda each: each.place))  # each after those it needs
STORIES = tuple(each for each in COURSE if each.steps)
_BY_NAME = {each.name: each for each in COURSE}


def find(name: str) -> Lesson | None:
    """The lesson of that name; None if there is none."""
    return _BY_NAME.get(name)


def lesson(name: str) -> Lesson:
    """The lesson of that name."""
    return _BY_NAME[name]
