"""What a stranger sends is checked before anything is computed."""

import pytest

from viz.api import requests
from viz.api.requests import ForeignError, QuestionError, check_origin, parse_query
from viz.values import SPAN

LOCAL = ("localhost", "127.0.0.1")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8501"},
        {"host": "LOCALHOST"},
        {"host": "127.0.0.1:8501", "origin": "http://127.0.0.1:8501"},
        {"host": "localhost:8501", "origin": "https://localhost:8501"},
        {"host": "localhost:8501", "sec-fetch-site": "same-origin"},
        {"host": "localhost:8501", "sec-fetch-site": "none"},
        {"host": "localhost.:8501"},
        {"host": "localhost:443", "origin": "https://localhost"},
    ],
)
def test_the_page_itself_may_ask(headers: dict[str, str]) -> None:
    check_origin(headers, LOCAL)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": ""},
        {"host": "evil.example"},
        {"host": "localhost.evil.example"},
        {"host": "evil.example/localhost"},
        {"host": "localhost@evil.example"},
        {"host": "evil.example#localhost"},
        {"host": "[::1"},
        {"host": "[localhost]"},
        {"host": "localhost:port"},
        {"host": "local host"},
        {"host": "localhost\u212a"},
        {"host": "localhost:8501", "origin": "http://localhost:9999"},
        {"host": "localhost:8501", "origin": "http://evil.example"},
        {"host": "localhost:8501", "origin": "null"},
        {"host": "localhost:8501", "origin": ""},
        {"host": "localhost:8501", "origin": "http://localhost:8501.evil.example"},
        {"host": "localhost:8501", "origin": "file://localhost:8501"},
        {"host": "localhost:8501", "origin": "http://user@localhost:8501"},
        {"host": "localhost:8501", "sec-fetch-site": "cross-site"},
        {"host": "localhost:8501", "sec-fetch-site": "same-site"},
    ],
)
def test_others_may_not(headers: dict[str, str]) -> None:
    with pytest.raises(ForeignError):
        check_origin(headers, LOCAL)


@pytest.mark.parametrize(
    ("allowed", "host", "fine"),
    [
        ((), "anything.example", True),
        (("*",), "anything.example:80", True),
        (("*",), "not a host", False),
        (("*.example.com",), "app.example.com", True),
        (("*.example.com",), "example.com", False),
        (("*.example.com",), "evilexample.com", False),
        ((" Example.COM. ",), "example.com", True),
        (("::1",), "[::1]:8501", True),
    ],
)
def test_allowed_hosts_are_read_as_streamlit_reads_them(
    allowed: tuple[str, ...], host: str, fine: bool
) -> None:
    if fine:
        check_origin({"host": host}, allowed)
    else:
        with pytest.raises(ForeignError):
            check_origin({"host": host}, allowed)


def test_an_origin_is_compared_even_where_all_hosts_are_allowed() -> None:
    with pytest.raises(ForeignError):
        check_origin({"host": "app.example", "origin": "http://other.example"}, ())


REQUIRED = {"site": requests.whole, "head": requests.head}
OPTIONAL = {"rows": SPAN}


def test_a_good_query_is_read() -> None:
    pairs = [("head", "max"), ("site", "007"), ("rows", "3-11")]
    assert parse_query(pairs, REQUIRED, OPTIONAL) == {
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
        parse_query(pairs, REQUIRED, OPTIONAL)
    assert expected in str(refused.value)
    assert len(str(refused.value)) < 120
