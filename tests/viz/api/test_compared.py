"""Two runs side by side equal their tables, read here by hand."""

import math
from urllib.parse import parse_qsl, urlsplit

import pyarrow.parquet as pq
import pytest

from viz.api import compared, corpus
from viz.api.endpoint import work_of
from viz.api.entries import RunEntry
from viz.pack import unpack
from viz.pages.corpus import runs
from viz.routes import ENDPOINTS
from viz.values import KEYS

A, B = "smollm2", "smollm2-repeated"


def entry(first: str, second: str) -> RunEntry:
    folders = runs.FINISHED / first, runs.FINISHED / second
    return corpus.hold(*folders, {"run": second}).value


def ask(value: RunEntry, path: str):
    name, _, query = path.partition("?")
    return work_of(ENDPOINTS, value, "r", name, parse_qsl(query))[1]()


def moments(run: str) -> dict[tuple[int, str], dict]:
    rows = pq.read_table(runs.FINISHED / run / "measures.parquet").to_pylist()
    return {(row["id"], row["measure"]): row for row in rows}


def ends(row: dict) -> tuple[float, float]:
    """Wilson's interval of a share, for as many texts of 0 and 1 as would vary like these."""
    z, p, n = 1.959963984540054, row["mean"], row["count"]
    middle = (n * p + 0.5) / (n + 1)
    of_one = middle * (1 - middle)  # a text of which nothing is known
    parts = ((n - 1) * row["variance"] + of_one) / (n * p * (1 - p) + of_one)
    texts = n / min(parts, 1)
    half = z * math.sqrt(p * (1 - p) / texts + z**2 / (4 * texts**2))
    low, high = ((p + z**2 / (2 * texts) + side * half) / (1 + z**2 / texts) for side in (-1, 1))
    return low, high


def interval(here: dict, there: dict) -> tuple[float, float]:
    """Newcombe's interval of the difference of two shares."""
    (low, high), (low_there, high_there) = ends(here), ends(there)
    one, other = here["mean"], there["mean"]
    difference = other - one
    return (
        difference - math.hypot(other - low_there, high - one),
        difference + math.hypot(high_there - other, one - low),
    )


def test_the_largest_changes_are_those_of_the_tables() -> None:
    here, there = moments(A), moments(B)
    certain = {}
    for place in here.keys() & there.keys():
        if place[1] != "induction":
            continue
        low, high = interval(here[place], there[place])
        if low > 0 or high < 0:
            certain[place[0]] = there[place]["mean"] - here[place]["mean"]
    answer = ask(entry(A, B), "changes?number=induction")
    assert answer["certain"] == len(certain)
    best = sorted(certain, key=lambda head: -abs(certain[head]))[: len(answer["changes"])]
    assert len(best) == compared.LISTED
    sites = entry(A, B).sites
    heads = [sites[each["site"]].first + each["head"] for each in answer["changes"]]
    assert heads == best
    for head, each in zip(heads, answer["changes"], strict=True):
        place = head, "induction"
        assert each["mean"] == pytest.approx(certain[head])
        assert (each["here"], each["there"]) == (here[place]["mean"], there[place]["mean"])
        expected = interval(here[place], there[place])
        assert (each["low"], each["high"]) == pytest.approx(expected)


def test_all_shares_are_compared_where_no_number_is_named() -> None:
    answer = ask(entry(A, B), "changes")
    sizes = [abs(each["mean"]) for each in answer["changes"]]
    assert sizes == sorted(sizes, reverse=True)
    assert {each["key"] for each in answer["changes"]} - {"induction"}
    assert max(sizes) <= 1.0
    assert answer["certain"] <= answer["of"]


def test_numbers_of_both_runs_and_their_difference_are_axes() -> None:
    header, _ = unpack(ask(entry(A, B), "overview"))
    base, here, there = header["base"], moments(A), moments(B)
    assert base["run"]["against"]["model"] == "SmolLM2-135M-Instruct"
    assert base["run"]["against"]["comparable"]
    numbers = base["numbers"]["values"]
    keys = "induction", compared.twin("induction"), f"induction{compared.CHANGE}"
    assert set(keys) <= {each["key"] for each in base["numbers"]["measures"]}
    assert KEYS.read(".".join(keys)) == keys  # a link can hold them
    one, two, change = (numbers[key][18][6] for key in keys)
    place = 18 * 9 + 6, "induction"
    assert one == pytest.approx(here[place]["mean"], abs=1e-4)
    assert two == pytest.approx(there[place]["mean"], abs=1e-4)
    assert change == pytest.approx(there[place]["mean"] - here[place]["mean"], abs=1e-4)


def test_a_head_has_its_numbers_and_examples_of_both_runs() -> None:
    there = ask(entry(A, B), "head?site=18&head=6")["there"]
    alone = ask(corpus.hold(runs.FINISHED / B).value, "head?site=18&head=6")
    assert there["numbers"] == alone["numbers"]
    assert there["sentence"] == alone["sentence"]
    assert there["examples"] == alone["examples"][: len(there["examples"])]
    assert there["examples"][0]["from"] == max(each["from"] for each in alone["examples"])


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
    assert first["value"] == pytest.approx(found["likeness"])
    query = dict(parse_qsl(urlsplit(first["link"]).query))
    assert (query["run"], query["head"]) == ("smollm2", str(found["head"]))
    assert query["layer"] == str(found["layer"])


def test_the_run_alone_is_as_before() -> None:
    alone = corpus.hold(runs.FINISHED / A).value
    header, _ = unpack(ask(alone, "overview"))
    assert header["base"]["run"]["against"] is None
    assert "there" not in ask(alone, "alike?site=0&head=0")
