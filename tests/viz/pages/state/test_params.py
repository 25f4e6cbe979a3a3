"""A page's settings as a link."""

import hashlib
from dataclasses import replace

import pytest

from viz.pages.state import params as link
from viz.values import HEAD, whole

PARAMS = (
    link.text("input", "hello"),
    link.choice("model", "minilm", ("minilm", "built")),
    link.number("heads", 4, 1, 16),
    link.Param("dim", 64, whole(8, 256, 8)),
    link.Param("head", 1, HEAD),
)


@pytest.mark.parametrize(
    "values",
    [
        {"input": "hello", "model": "minilm", "heads": 4, "dim": 64, "head": 1},
        {"input": "a&b=<i>ü 🙂", "model": "built", "heads": 16, "dim": 256, "head": "max"},
        {"input": "", "model": "minilm", "heads": 1, "dim": 8, "head": 0},
    ],
)
def test_what_is_written_is_read_again(values):
    query = link.write(PARAMS, values)
    assert link.read(PARAMS, query) == (values, [])


def test_what_is_always_named_stands_in_the_link_as_the_default_too():
    named = tuple(replace(each, named=each.name == "model") for each in PARAMS)
    values, _ = link.read(named, {})
    assert link.write(named, values) == {"model": "minilm"}
    assert link.read(named, {"model": "minilm"}) == (values, [])


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("model", "gpt"),
        ("heads", "0"),
        ("heads", "17"),
        ("heads", "-3"),
        ("heads", "3.5"),
        ("heads", "٣"),
        ("heads", "9" * 400),
        ("dim", "63"),
        ("head", "median"),
        ("head", ""),
    ],
)
def test_nonsense_is_named_and_replaced_by_the_default(name, written):
    values, problems = link.read(PARAMS, {name: written, "input": "kept"})
    default = next(p.default for p in PARAMS if p.name == name)
    assert values[name] == default
    assert values["input"] == "kept"
    assert len(problems) == 1
    assert name in problems[0]
    assert str(default) in problems[0]
    assert len(problems[0]) < 200


def test_unknown_settings_are_named_in_one_line():
    _, problems = link.read(PARAMS, {"colour": "red", "heads": "7", "x": "1"})
    assert problems == ["Settings of the link that Headscope does not have: “colour”, “x”."]


def test_a_long_text_stands_by_its_hash():
    long = "word " * 401
    query = link.write(PARAMS, {"input": long, "model": "minilm", "heads": 4, "dim": 64, "head": 1})
    assert query == {"input_sha256": hashlib.sha256(long.encode()).hexdigest()}
    values, problems = link.read(PARAMS, query)
    assert values["input"] == "hello"
    assert problems == []
    assert link.wanted(PARAMS, query) == {"input": link.digest_of(long)}
