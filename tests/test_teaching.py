"""The plan for teachers has every lesson, as the course names and numbers it."""

import re
from pathlib import Path

from viz.api.room_routes import CHOICES
from viz.pages.lessons.course import COURSE

PLAN = (Path(__file__).parents[1] / "docs" / "teaching.md").read_text(encoding="utf-8")
HEADING = r"^## (\d+) · (.+) \((\d+) min\)$"
PARTS = ["Aim", "Show", "Ask", "Misconception"]


def test_every_lesson_is_there_in_the_order_of_the_course() -> None:
    found = [(title, int(minutes)) for _, title, minutes in re.findall(HEADING, PLAN, re.MULTILINE)]
    assert found == [(lesson.title, lesson.minutes) for lesson in COURSE]
    numbers = [int(number) for number, *_ in re.findall(HEADING, PLAN, re.MULTILINE)]
    assert numbers == [*range(1, len(COURSE) + 1)]


def test_every_lesson_has_its_four_parts_and_a_question_with_one_right_choice() -> None:
    for section in re.split(r"^## \d+ · ", PLAN, flags=re.MULTILINE)[1:]:
        assert re.findall(r"^- \*\*(\w+):\*\*", section, re.MULTILINE) == PARTS, section
        choices = section[section.index("**Ask:**") + 8 : section.index("- **Misconception")]
        if "·" in choices:
            assert len(re.findall(r"\*\*[^*]+\*\*", choices)) == 1, section
            assert choices.count("·") + 1 in CHOICES
