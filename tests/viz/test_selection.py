"""Options, forms and methods: everything that reads their declaration agrees with it."""

from dataclasses import fields
from typing import Any

import pytest

from analysis import methods
from analysis.relevance import METHODS as RELEVANCE
from viz.command import parser
from viz.pages.state import params as link
from viz.pages.state import selected
from viz.routes import ENDPOINTS
from viz.selection import OF_FILES, OF_VIEWS, OPTIONS, Option, Selection
from viz.values import FLAG, KEYS, SPAN, TEXT, Kind, real, whole, wholes, words
from viz.views import FORM, FORMS, forms_of, kind_of

NAMED = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)


@NAMED
def test_a_default_comes_back_from_a_link(option: Option) -> None:
    assert option.about
    if option.default is not None:
        assert option.kind(str(option.held(option.default))) == option.default


@NAMED
def test_links_requests_and_the_shell_have_the_option(option: Option) -> None:
    param = {each.name: each for each in (*selected.FORMS, *selected.OVERLAY)}.get(option.name)
    if option.of != "file" and option.name not in selected.PLACE:
        assert param is not None
        assert (param.default, param.kind.expected) == (option.start, kind_of(option).expected)
    export = ENDPOINTS["text", "export"]
    taken = vars(parser().parse_args(["--text", "a", "-o", "a.svg"]))
    if option.of != "view":
        assert export.kinds[option.name] is option.kind
        assert taken[option.name] == option.default
        assert getattr(Selection(), option.name) == option.default
        assert forms_of(option.name), "acts on no form"
    else:
        assert option.name in ("shown", "there") or option.name not in export.optional
        assert option.name not in taken


def test_forms_name_options_that_files_have() -> None:
    assert [name for form in FORMS for name in form.options if name not in OF_FILES] == []
    assert {field.name for field in fields(Selection)} == OF_FILES.keys() | OF_VIEWS.keys()
    assert len(FORM) == len(FORMS)


READ: list[tuple[Kind, str, Any, Any]] = [
    (words("a", "b"), "b", "b", "b"),
    (whole(2, 64), "007", 7, 7),
    (real(0, 1), "0.25", 0.25, 0.25),
    (real(0, 1), "1e-7", 1e-7, 1e-7),
    (FLAG, "yes", True, "yes"),
    (wholes(9), "0.3", (0, 3), "0.3"),
    (wholes(9), "", (), ""),
    (SPAN, "3-9", range(3, 9), "3-9"),
    (SPAN, "", None, ""),
    (KEYS, "previous token.entropy", ("previous token", "entropy"), "previous token.entropy"),
    (KEYS, "..entropy", ("", "", "entropy"), "..entropy"),
    (TEXT, "a\x00b\n", "ab", "ab"),
]


@pytest.mark.parametrize(("kind", "text", "value", "held"), READ)
def test_a_text_is_read_and_held(kind: Kind, text: str, value: Any, held: Any) -> None:
    found: Any = kind(text)
    assert found == value
    assert kind.held(found) == held


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((words("a", "b"), text) for text in ("", "A", "a b")),
        *((whole(2, 64), text) for text in ("", "1", "65", "-3", "3.0", "٣", "3\n", "1" * 10)),
        *((real(0, 1), text) for text in ("", "1.1", "-0.1", "nan", "inf", "1e3", ".5", "0.5\n")),
        *((FLAG, text) for text in ("", "Yes", "true")),
        *((wholes(9), text) for text in ("1.1", "10", "1..2", "a", "-1", ".")),
        *((SPAN, text) for text in ("5", "5-5", "9-5", "a-b", "1-2-3", "-1-2")),
        *((KEYS, text) for text in ("a.b.c.d", "<b>", "a" * 41)),
    ],
)
def test_anything_else_is_refused_in_one_line(kind: Kind, text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected [^\n]*$") as refused:
        kind(text)
    assert kind.expected in str(refused.value)


LINKS: dict[str, dict[str, Any]] = {  # as the app has written them, and what they choose
    "form=lines&shown=0.3.11": {"shown": "0.3.11"},
    "values=scores&find=cat": {"values": "scores", "find": "cat"},
    "form=model&method=attnlrp&output=mat@3&tested=yes": {"output": "mat@3", "tested": "yes"},
    "plot=distance.broad&rank=-entropy": {"plot": "distance.broad", "rank": "-entropy"},
    "sinks=hidden&outliers=yes": {"sinks": "hidden", "outliers": "yes"},
}


@pytest.mark.parametrize("written", LINKS)
def test_links_that_exist_choose_the_same(written: str) -> None:
    query = dict(part.split("=", 1) for part in written.split("&"))
    params = (*selected.FORMS, *selected.OVERLAY)
    values, problems = link.read(params, query)
    assert problems == []
    assert {name: values[name] for name in LINKS[written]} == LINKS[written]
    assert link.write(params, values).keys() <= query.keys()


@pytest.mark.parametrize("method", methods.METHODS, ids=lambda method: method.name)
def test_a_method_says_what_it_shows_and_what_it_does_not_prove(method: methods.Method) -> None:
    for sentence in (method.shows, method.doubt):
        assert sentence[0].isupper()
        assert sentence.endswith(".")
    assert all((method.formula, method.source, method.joined))
    assert method.low is None or method.high is None or method.low < method.high


def test_the_relevances_are_those_of_the_analysis() -> None:
    assert methods.names_of("relevance") == RELEVANCE
