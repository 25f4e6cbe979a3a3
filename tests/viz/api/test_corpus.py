"""Answers about runs over a corpus equal their tables, read here by hand."""

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import viz.routes  # noqa: F401
from models.request import Source, TraceRequest
from viz.api import compared, corpus, runs, tracing
from viz.api.endpoint import QuestionError, plain, work_of
from viz.api.entries import RunEntry, TraceEntry
from viz.pack import unpack
from viz.values import KEYS

NAMES = sorted(path.parent.name for path in runs.FINISHED.glob("*/manifest.json"))


def table(run: str, name: str) -> pa.Table:
    return pq.read_table(runs.FINISHED / run / f"{name}.parquet")


def rows(run: str, name: str, head: int) -> list[dict]:
    return [row for row in table(run, name).to_pylist() if row["id"] == head]


def entry(run: str, other: str = "") -> RunEntry:
    folders = [runs.FINISHED / each for each in (run, other) if each]
    return corpus.hold(*folders, other_link={"run": other}).value


def ask(of: Any, path: str) -> Any:
    """The answer about a run, or another result, as the browser reads it; the bytes of one."""
    name, _, query = path.partition("?")
    value = entry(of) if isinstance(of, str) else of
    answer = work_of(value, name, parse_qsl(query))[1]()
    return answer if isinstance(answer, bytes) else plain(answer)


def places(run: str) -> list[tuple[int, int]]:
    """Site and head of every head, in the order of the tables."""
    return [
        (site, head) for site, each in enumerate(entry(run).sites) for head in range(each.heads)
    ]


def of(run: str, number: int, route: str = "head") -> Any:
    site, head = places(run)[number]
    return ask(run, f"{route}?site={site}&head={head}")


@pytest.mark.parametrize("run", NAMES)
def test_the_numbers_of_all_heads_are_those_of_the_tables(run: str) -> None:
    header, _ = unpack(ask(run, "overview"))
    base, every = header["base"], table(run, "heads").to_pylist()
    assert (
        base["run"]["texts"]
        == json.loads((runs.FINISHED / run / "manifest.json").read_text(encoding="utf-8"))["texts"]
    )
    found = [(base["sites"][site]["layer"], head) for site, head in places(run)]
    assert found == [(row["layer"], row["head"]) for row in every]
    means = {(row["id"], row["measure"]): row["mean"] for row in table(run, "measures").to_pylist()}
    numbers, seen = base["numbers"], 0
    for key, values in numbers["values"].items():
        for number, (site, head) in enumerate(places(run)):
            expected = means.get((number, key), every[number].get(key))
            if expected is None or np.isnan(expected):
                assert values[site][head] is None
            else:
                assert values[site][head] == pytest.approx(expected, rel=1e-5)
                seen += 1
    assert seen >= len(means)
    sentences = [numbers["sentences"][site][head] for site, head in places(run)]
    assert sentences == entry(run).run.heads["sentence"].tolist()


@pytest.mark.parametrize("run", ["minilm", "dinov2", "dates", "induction"])
def test_the_page_of_a_head_is_what_the_tables_say(run: str) -> None:
    number = len(places(run)) // 2
    found = of(run, number)
    means = {row["measure"]: row for row in rows(run, "measures", number)}
    assert {each["key"] for each in found["numbers"]} == set(means)
    for each in found["numbers"]:
        for name in ("count", "mean", "low", "high"):
            assert each[name] == pytest.approx(means[each["key"]][name], rel=1e-5)
    grid = rows(run, "maps", number)[0].get("grid")
    assert found["grid"] == (None if grid is None else pytest.approx(grid, rel=1e-5))
    assert (grid is not None) == (run == "dinov2")


@pytest.mark.parametrize("run", ["minilm", "induction"])
def test_tokens_and_pairs_come_with_the_largest_sums_first(run: str) -> None:
    number = 3
    found = of(run, number)
    for role, name in (("key", "keys"), ("query", "queries")):
        own = [row for row in rows(run, "tokens", number) if row["role"] == role]
        own.sort(key=lambda row: -row["weight"])
        assert [each["label"] for each in found[name]] == [
            row["label"] for row in own[: corpus.TOKENS]
        ]
        shares = [row["share"] for row in own[: corpus.TOKENS]]
        assert [each["value"] for each in found[name]] == pytest.approx(shares, rel=1e-5)
    weights = sorted((row["weight"] for row in rows(run, "pairs", number)), reverse=True)
    found = [each["value"] for each in found["pairs"]]
    assert found == pytest.approx(weights[: corpus.TOKENS], rel=1e-5)


@pytest.mark.parametrize("run", ["minilm", "smollm2", "dates", "dinov2"])
def test_examples_are_whole_and_lead_to_explore(run: str) -> None:
    number = len(places(run)) - 1
    found, own = of(run, number)["examples"], rows(run, "examples", number)
    assert len(found) == len(own)
    texts = {row["text"]: row for row in table(run, "texts").to_pylist()}
    own.sort(key=lambda row: (-row["from"], row["text"], row["query"]))
    address = table(run, "heads").to_pylist()[number]
    query = dict(parse_qsl(urlsplit(of(run, number)["link"]).query))
    place = {"layer": str(address["layer"]), "attention": address["kind"]}
    tower = {"tower": address["tower"]} if address["tower"] else {}
    assert query == {"model": run, "head": str(address["head"]), **place, **tower}
    for each, row in zip(found, own, strict=True):
        assert (each["query"], each["keys"]) == (row["query"], row["keys"])
        assert each["weights"] == pytest.approx(row["weights"], rel=1e-5)
        labels = each["labels"] or range(each["prefix"] + int(np.prod(each["grid"])))
        assert max(each["keys"]) < len(labels)
        text = texts[row["text"]]
        if run == "dinov2":
            assert (each["link"] is not None) == (text["source"] in ("china.jpg", "flower.jpg"))
        if each["link"] is None:
            continue
        query = dict(parse_qsl(urlsplit(each["link"]).query))
        assert query["model"] == run
        assert query["layer"] == str(address["layer"])
        assert query["head"] == str(address["head"])
        assert query["token"] == str(row["query"])
        assert query.get("input", text["content"]) == text["content"]


def test_heads_are_found_by_a_pair_of_tokens() -> None:
    found = ask("smollm2", "attending?query=the&key=Of")["heads"]
    rows = entry("smollm2").run.attending_to("Of", corpus.LISTED, query="the")
    heads = [places("smollm2").index((each["site"], each["head"])) for each in found]
    assert heads == rows["id"].tolist()
    assert len(heads) == corpus.LISTED
    assert [each["value"] for each in found] == pytest.approx(rows["share"].tolist(), rel=1e-5)


@pytest.mark.parametrize(
    "path",
    [
        "head?site=99&head=0",
        "head?site=0&head=99",
        "head?site=0&head=mean",
        "attending",
        "attending?key=",
        "attending?key=a&role=both",
    ],
)
def test_bad_questions_are_refused(path: str) -> None:
    with pytest.raises(QuestionError, match="expected"):
        ask("induction", path)


A, B = "smollm2", "smollm2-repeated"


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
    two = entry("minilm", "smollm2")
    header, _ = unpack(ask(two, "overview"))
    assert not header["base"]["run"]["against"]["comparable"]
    assert compared.twin("induction") not in header["base"]["numbers"]["values"]
    assert ask(two, "changes") == {"changes": [], "certain": 0, "of": 0}
    assert ask(two, "head?site=0&head=2")["there"] is None
    (first, *_) = ask(two, "alike?site=0&head=2")["there"]
    found = corpus.hold(runs.FINISHED / "smollm2").value.run.like_head(2, of=two.run).iloc[0]
    assert first["name"] == f"layer {found['layer']} · head {found['head']}"
    assert first["value"] == pytest.approx(found["likeness"], rel=1e-5)
    query = dict(parse_qsl(urlsplit(first["link"]).query))
    assert (query["run"], query["head"]) == ("smollm2", str(found["head"]))
    assert query["layer"] == str(found["layer"])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def traced(source: Source, text: str) -> TraceEntry:
    return tracing.entry_for(TraceRequest(model=tracing.stamped(source), input=text)).value


def lines_of(value: TraceEntry, site: int, head: int) -> list[dict[str, str]]:
    return ask(value, f"corpora?site={site}&head={head}")["corpora"]


def test_a_head_of_the_list_has_its_sentence_and_the_link_to_its_page() -> None:
    found = traced(Source("catalogue", "induction"), "a b c a b c")
    for row in pq.read_table(runs.FINISHED / "induction" / "heads.parquet").to_pylist():
        (line,) = lines_of(found, row["layer"], row["head"])
        assert line["sentence"].startswith(
            "Over 200 items of its task that it was not trained on, "
        )
        query = dict(parse_qsl(urlsplit(line["link"]).query))
        assert (query["run"], query["attention"]) == ("induction", "causal")
        assert (query["layer"], query["head"]) == (str(row["layer"]), str(row["head"]))


def test_a_run_of_the_user_comes_first_where_it_is_larger() -> None:
    folder = runs.home() / "larger"
    shutil.copytree(runs.FINISHED / "induction", folder)
    manifest = (folder / "manifest.json").read_text(encoding="utf-8")
    larger = manifest.replace('"texts": ', '"texts": 9')
    (folder / "manifest.json").write_text(larger, encoding="utf-8")
    found = traced(Source("catalogue", "induction"), "a b a b")
    lines = lines_of(found, 1, 0)
    assert [dict(parse_qsl(urlsplit(each["link"]).query))["run"] for each in lines] == [
        f"{runs.USERS}larger",
        "induction",
    ]
