"""The frame of the lessons: the course, the glossary, links, code and the way back."""

import inspect
import re
import textwrap
from html import escape
from itertools import pairwise

import pytest
from tests.viz.pages.learn.pages import checked, errors, linked, run, words

import start
from models import simple
from viz.pages.lessons import course, prose, tables
from viz.pages.lessons.terms import TERMS
from viz.pages.widgets.sources import source

NAMES = [lesson.name for lesson in course.lessons()]


def test_the_course_is_in_order_and_every_page_is_a_lesson() -> None:
    assert NAMES[0] == "dictionary"
    pages = {path.stem for path in course.FOLDER.glob("[!_]*.py")}
    assert pages == set(NAMES)
    for before, after in pairwise(NAMES):
        assert course.neighbours(before)[1] == course.lesson(after)
        assert course.neighbours(after)[0] == course.lesson(before)
    assert course.neighbours(NAMES[0])[0] is None
    assert course.neighbours(NAMES[-1])[1] is None


def test_the_glossary_is_sorted_into_sentences() -> None:
    for name, meaning in TERMS.items():
        assert name == name.lower()
        assert meaning.endswith(".")


def test_marks_become_html_and_nothing_else_does() -> None:
    assert prose.html("**a** *b* `c<d` x_{i}^{2}") == (
        "<b>a</b> <i>b</i> <code>c&lt;d</code> x<sub>i</sub><sup>2</sup>"
    )
    assert prose.html("<script> & 2 * 3 * 4") == "&lt;script&gt; &amp; 2 * 3 * 4"
    shown = prose.html("a [[softmax|soft maximum]]")
    assert 'tabindex="0"' in shown
    assert ">soft maximum</span>" in shown
    assert TERMS["softmax"] in shown
    with pytest.raises(ValueError, match="expected one of the glossary, received 'nonsense'"):
        prose.html("[[nonsense]]")


@pytest.mark.parametrize("typed", ["[[softmax]]", "**a** *b*", "`x`_{2}^{3}", "<b>", "[[x|y]]"])
def test_what_a_reader_typed_is_shown_letter_by_letter(typed: str) -> None:
    assert prose.html(f"**{prose.plain(typed)}**") == f"<b>{escape(typed, quote=False)}</b>"


@pytest.mark.parametrize(
    ("name", "setting", "shown"),
    [
        ("dictionary", "query", "asked for “[[x]] **b**”"),
        ("decoder", "words", "“[[x]]”"),
        ("decoder", "start", ""),  # read as word pieces
        ("both", "date", ""),  # read letter by letter
        ("position", "words", "[[x]] **b**"),
        ("heads", "sentence", ""),
        ("head_layer", "letters", ""),
    ],
)
def test_marks_in_what_a_reader_typed_are_no_marks(name: str, setting: str, shown: str) -> None:
    others = {"writer": "untrained"} if name == "decoder" else {}
    app = run(name, **{setting: "[[x]] **b**"}, **others)
    assert not any("glossary" in line for line in errors(app))
    assert shown in words(app)


def test_sums_are_written_with_brackets_round_what_is_negative() -> None:
    assert tables.dot([1.0, -2.0], [-3.0, 4.0], 1) == "1.0·(−3.0) + (−2.0·4.0)"
    assert tables.total([0.5, -0.25], 2) == "0.50 + (−0.25)"
    assert tables.exp(0.5) == "exp(0.5000)"
    assert tables.exp(800.0, 799.0) == "exp(800.0000 − 799.0000)"
    assert tables.exp(-800.0, -799.0) == "exp(−800.0000 − (−799.0000))"


def test_tables_say_every_number_and_their_shape() -> None:
    text = tables.matrix(
        [[0.5, -1.25, float("nan")]], title="**A**", rows=("<w>",), axes=("word", "feature")
    )
    assert "1 word × 3 features" in text
    assert "&lt;w&gt;" in text
    assert re.findall(r"<td[^>]*>([^<]+)</td>", text) == ["0.5000", "−1.2500", "masked"]
    assert tables.number(-0.00001) == "0.0000"
    assert tables.number(float("-inf")) == "−∞"
    with pytest.raises(ValueError, match="kind: expected one of plain"):
        tables.matrix([[1.0]], title="", kind="loud")


def test_code_is_the_source_that_ran() -> None:
    file, line, lines = source(simple.unlearned)
    written = (start.ROOT / file).read_text(encoding="utf-8").splitlines()
    assert lines == textwrap.dedent(inspect.getsource(inspect.unwrap(simple.unlearned)))
    assert "\n".join(written).find(lines.strip()) >= 0
    assert written[line - 1].startswith("def unlearned")


@pytest.mark.parametrize("name", NAMES)
def test_every_lesson_has_its_parts(name: str) -> None:
    app = run(name)
    said = words(app)
    assert not errors(app)
    assert course.lesson(name).title in app.markdown[0].value
    assert "To take away" in said
    links = [element.proto.page for element in app.get("page_link")]
    for neighbour in course.neighbours(name):
        assert neighbour is None or neighbour.name in links


@pytest.mark.parametrize("name", NAMES)
def test_the_print_view_shows_the_code_and_it_equals_the_source(name: str) -> None:
    app = run(name, print="yes")
    captions = [element.value for element in app.caption]
    shown = [c for c in captions if re.fullmatch(r"[\w/]+\.py, line \d+", c)]
    assert len(app.code) == len(shown)
    for caption, block in zip(shown, app.code, strict=True):
        file, line = caption.split(", line ")
        written = (start.ROOT / file).read_text(encoding="utf-8").splitlines()
        shown_lines = block.value.rstrip()
        start_, count = int(line) - 1, len(shown_lines.splitlines())
        assert textwrap.dedent("\n".join(written[start_ : start_ + count])) == shown_lines


@pytest.mark.parametrize("name", NAMES)
def test_every_link_to_try_makes_sense(name: str) -> None:
    """What it sets is a setting of the lesson, in its range, and is what the page then says."""
    app = run(name)
    here = [e.proto for e in app.get("page_link") if e.proto.page == name and e.proto.query_string]
    assert here or name == "quiz"
    for link in here:
        settings = dict(parse(link.query_string))
        tried = run(name, **settings)
        assert linked(tried).items() <= settings.items()
        for key, value in settings.items():
            assert str(tried.session_state[f"{name}_{key}"]) == value
        assert not [line for line in errors(tried) if line.startswith("The link")]


def parse(query: str) -> list[tuple[str, str]]:
    from urllib.parse import parse_qsl

    return parse_qsl(query)


def test_the_way_back_from_the_explorer() -> None:
    app = run("by_hand", x11="0.5")
    app.switch_page("viz/pages/positions/page.py")
    app.query_params.clear()
    checked(app.run())
    (back,) = [e.proto for e in app.get("page_link") if e.proto.page == "by_hand"]
    assert back.query_string == "x11=0.5"
    assert "Back to the lesson" in back.label


def test_larger_type_at_a_click() -> None:
    app = run("by_hand")
    assert not any("130%" in element.proto.body for element in app.get("html"))
    app.button(key="lesson_large").click().run()
    assert any("130%" in element.proto.body for element in checked(app).get("html"))
    assert app.sidebar.toggle(key="projector").value
