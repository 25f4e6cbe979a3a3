"""Two runs side by side equal their tables."""

from dataclasses import is_dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

import viz.routes  # noqa: F401
from viz.api import compared, corpus, runs
from viz.api.endpoint import plain, work_of
from viz.api.entries import RunEntry
from viz.pack import unpack
from viz.values import KEYS

A, B = "smollm2", "smollm2-repeated"


def entry(first: str, second: str) -> RunEntry:
    folders = runs.FINISHED / first, runs.FINISHED / second
    return corpus.hold(*folders, {"run": second}).value


def ask(value: RunEntry, path: str):
    """The answer as the browser reads it, or the bytes of one."""
    name, _, query = path.partition("?")
    answer = work_of(value, name, parse_qsl(query))[1]()
    return plain(answer) if is_dataclass(answer) else answer


def test_the_largest_changes_are_those_of_the_tables() -> None:
    value = entry(A, B)
    assert value.other is not None
    every: Any = value.run.compare(value.other)
    table = every[every["measure"] == "induction"]
    certain = table[(table["low"] > 0) | (table["high"] < 0)]
    largest = sorted(certain.to_dict("records"), key=lambda row: -abs(row["difference"]))
    answer = ask(value, "changes?number=induction")
    assert answer["certain"] == len(certain)
    assert len(answer["changes"]) == compared.LISTED
    for each, row in zip(answer["changes"], largest[: compared.LISTED], strict=True):
        assert value.number_of(each["site"], each["head"]) == row["id_here"]
        expected = [row[name] for name in ("mean_here", "mean_there", "difference", "low", "high")]
        found = [each[name] for name in ("here", "there", "mean", "low", "high")]
        assert found == pytest.approx(expected, rel=1e-5)


def test_numbers_of_both_runs_and_their_difference_are_axes() -> None:
    value = entry(A, B)
    header, _ = unpack(ask(value, "overview"))
    base = header["base"]
    assert base["run"]["against"]["model"] == "SmolLM2-135M-Instruct"
    assert base["run"]["against"]["comparable"]
    numbers = base["numbers"]["values"]
    keys = "induction", compared.twin("induction"), f"induction{compared.CHANGE}"
    assert set(keys) <= {each["key"] for each in base["numbers"]["measures"]}
    assert KEYS.read(".".join(keys)) == keys  # a link can hold them
    one, two, change = (numbers[key][18][6] for key in keys)
    assert value.other is not None
    here, there = (run.heads["induction"][18 * 9 + 6] for run in (value.run, value.other))
    assert (one, two, change) == pytest.approx((here, there, there - here), abs=1e-4)


def test_two_models_have_no_head_in_common_but_alike_ones() -> None:
    both = entry("minilm", "smollm2")
    header, _ = unpack(ask(both, "overview"))
    assert not header["base"]["run"]["against"]["comparable"]
    assert compared.twin("induction") not in header["base"]["numbers"]["values"]
    assert ask(both, "changes") == {"changes": [], "certain": 0, "of": 0}
    assert ask(both, "head?site=0&head=2")["there"] is None
    (first, *_) = ask(both, "alike?site=0&head=2")["there"]
    found = corpus.hold(runs.FINISHED / "smollm2").value.run.like_head(2, of=both.run).iloc[0]
    assert first["name"] == f"layer {found['layer']} · head {found['head']}"
    assert first["value"] == pytest.approx(found["likeness"], rel=1e-5)
    query = dict(parse_qsl(urlsplit(first["link"]).query))
    assert (query["run"], query["head"]) == ("smollm2", str(found["head"]))
    assert query["layer"] == str(found["layer"])
