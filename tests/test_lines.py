"""What `make lines` counts, on files written here."""

from pathlib import PurePosixPath

import pytest

from tests import lines
from tests.lines import Count

PYTHON = '''"""A module.

Of three lines.
"""

# a comment
LONG = """not a docstring

but a value"""


def f():  # with a comment
    """Says what."""
    return (
        1
    )
'''
SCRIPT = """// a comment
/* one line */
/**
 * @param {string} x
 */
const f = (x) => {

  return `/* ${x} */`; // after code
};
"""


def test_code_is_neither_blank_nor_comment_nor_docstring() -> None:
    assert lines.counted("a.py", PYTHON) == Count(16, 7, len(PYTHON))
    assert lines.counted("a.js", SCRIPT) == Count(9, 3, len(SCRIPT))
    assert lines.counted("a.html", "<!-- a\nb -->\n<p>\n") == Count(3, 1, 17)


def test_every_counted_file_has_one_room() -> None:
    places = [place for _, found in lines.ROOMS.values() for place in found]
    assert len(places) == len({*places})
    counts = lines.rooms(lines.tracked())
    assert sum(count.lines for count in counts.values()) > 50_000
    assert counts["tests"].lines == sum(
        (lines.ROOT / path).read_text(encoding="utf-8").count("\n")
        for path in lines.tracked()
        if PurePosixPath(path).parts[0] == "tests" and path.endswith(lines.COUNTED)
    )


@pytest.mark.parametrize(
    ("outside", "said"),
    [(1000, []), (500, []), (1001, ["above the ceiling of 1,000"]), (499, ["lower it"])],
)
def test_a_count_stays_below_its_ceiling_and_near_it(outside: int, said: list[str]) -> None:
    most = {
        "lines-outside-tests": 1000,
        "lines-of-tests": 10,
        "characters-outside-tests": 10**6,
        "characters-of-tests": 10**6,
        "bytes-of-the-course": 10,
    }
    found = [*lines.broken(Count(outside, 0, 0), Count(10, 0, 0), 10, most)]
    assert len(found) == len(said)
    assert all(words in line for words, line in zip(said, found, strict=True))
