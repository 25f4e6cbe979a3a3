"""The frame of the lessons: the course, the glossary, code, the plan, the way back."""

import inspect
import re
import textwrap
from pathlib import Path
from pkgutil import resolve_name

import pytest

import start
from tests.viz.pages.helpers import link, view
from tests.viz.pages.lessons.pages import errors, run, words
from viz import course
from viz.course import prose
from viz.course.numbers import softened
from viz.course.quiz.numbers import product
from viz.pages.widgets.sources import source

NAMES = [lesson.name for lesson in course.COURSE]


def test_the_course_is_in_order_and_every_folder_is_a_lesson() -> None:
    folder = Path(course.__file__).parent
    assert {path.parent.name for path in folder.glob("*/numbers.py")} == set(NAMES)
    assert all(course.lesson(name).name == name for name in NAMES)
    assert len({each.place for each in course.COURSE}) == len(NAMES)
    assert [each.place for each in course.COURSE] == sorted(each.place for each in course.COURSE)


def test_every_lesson_comes_after_those_it_needs() -> None:
    for number, lesson in enumerate(course.COURSE):
        assert all(NAMES.index(need) < number for need in lesson.needs), lesson.name
    assert 40 <= sum(course.lesson(name).minutes for name in course.SHORT) <= 45


def test_marks_become_html_and_nothing_else_does() -> None:
    assert prose.html("**a** *b* `c<d` x_{i}^{2}") == (
        "<b>a</b> <i>b</i> <code>c&lt;d</code> x<sub>i</sub><sup>2</sup>"
    )
    assert prose.html("<script> & 2 * 3 * 4") == "&lt;script&gt; &amp; 2 * 3 * 4"
    shown = prose.html("a [[softmax|soft maximum]]")
    assert 'tabindex="0"' in shown
    assert ">soft maximum</span>" in shown
    assert prose.GLOSSARY["softmax"] in shown
    with pytest.raises(ValueError, match="expected one of its terms, received 'nonsense'"):
        prose.html("[[nonsense]]")


def test_sums_are_written_with_brackets_round_what_is_negative() -> None:
    assert product([1.0, -2.0], [-3.0, 4.0]) == "1·(−3) + (−2·4)"


def test_code_is_the_source_that_ran() -> None:
    file, line, lines = source(softened)
    written = (start.ROOT / file).read_text(encoding="utf-8").splitlines()
    assert lines == textwrap.dedent(inspect.getsource(inspect.unwrap(softened)))
    assert "\n".join(written).find(lines.strip()) >= 0
    assert written[line - 1].startswith("def softened")


@pytest.mark.parametrize("name", NAMES)
def test_the_code_of_a_lesson_is_there(name: str) -> None:
    for part in course.lesson(name).code:
        assert source(resolve_name(part))[2]


@pytest.mark.parametrize("name", NAMES)
def test_every_lesson_has_its_parts(name: str) -> None:
    app = run(name)
    assert not errors(app)
    assert "To take away" in words(app)
    links = [element.proto.page for element in app.get("page_link")]
    assert set(links) >= set(NAMES)  # the rail follows them
    assert view(app, "rail")["page"] == name
    assert [each["name"] for each in view(app, "rail")["lessons"]] == NAMES
    assert link(app) == {}


def test_an_older_link_opens_the_lesson_and_says_what_is_gone() -> None:
    app = run("scale", story="3", room="yes")
    assert errors(app) == ["Settings of the link that Headscope does not have: “room”."]
    assert view(app, "story")["start"]["story"] == "slope"  # when steps had numbers, the fourth
    assert "“7”" in "".join(errors(run("decoder", story="7")))  # a step of another lesson now


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_has_a_question_with_one_right_choice(name: str) -> None:
    ask = course.lesson(name).plan["ask"]
    if "·" in ask:
        assert len(re.findall(r"\*\*[^*]+\*\*", ask)) == 1
        assert 2 <= ask.count("·") + 1 <= 5
