"""What a stranger sends is checked before anything is computed."""

import pytest

from viz.api.endpoint import QuestionError, parse_query
from viz.values import HEAD, NUMBER, SPAN

KINDS = {"site": NUMBER, "head": HEAD, "rows": SPAN}


def test_a_good_query_is_read() -> None:
    pairs = [("head", "max"), ("site", "007"), ("rows", "3-11")]
    assert parse_query(pairs, KINDS, {"rows"}) == {
        "head": "max",
        "site": 7,
        "rows": range(3, 11),
    }


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("site", "1")], "the parameter head"),
        ([("site", "1"), ("head", "1"), ("site", "2")], "site once"),
        ([("site", "1"), ("head", "1"), ("colour", "red")], "the parameters site, head, rows"),
        ([("site", "-1"), ("head", "1")], "a whole number"),
        ([("site", "1.5"), ("head", "1")], "a whole number"),
        ([("site", ""), ("head", "1")], "a whole number"),
        ([("site", "٣"), ("head", "1")], "a whole number"),
        ([("site", "1\n"), ("head", "1")], "a whole number"),
        ([("site", "1" * 10), ("head", "1")], "a whole number"),
        ([("site", "1" * 65), ("head", "1")], "at most 64 characters"),
        ([("site", "1"), ("head", "median")], "mean or max"),
        ([("site", "1"), ("head", "1"), ("rows", "5")], "positions such as 0-512"),
        ([("site", "1"), ("head", "1"), ("rows", "5-5")], "positions such as 0-512"),
        ([("site", "1"), ("head", "1"), ("rows", "9-5")], "positions such as 0-512"),
        ([("x" * 1025, "1")], "at most 1024 characters"),
    ],
)
def test_a_bad_query_is_told_what_was_expected(pairs: list[tuple[str, str]], expected: str) -> None:
    with pytest.raises(QuestionError, match="expected") as refused:
        parse_query(pairs, KINDS, {"rows"})
    assert expected in str(refused.value)
    assert len(str(refused.value)) < 120
