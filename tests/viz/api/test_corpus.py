"""Answers about a run over a corpus equal its tables, read here by hand."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import viz.routes  # noqa: F401
from viz.api import corpus, runs
from viz.api.endpoint import QuestionError, plain, work_of
from viz.api.entries import RunEntry
from viz.pack import unpack

NAMES = sorted(path.parent.name for path in runs.FINISHED.glob("*/manifest.json"))


def table(run: str, name: str) -> pa.Table:
    return pq.read_table(runs.FINISHED / run / f"{name}.parquet")


def rows(run: str, name: str, head: int) -> list[dict]:
    return [row for row in table(run, name).to_pylist() if row["id"] == head]


def entry(run: str) -> RunEntry:
    return corpus.hold(runs.FINISHED / run).value


def ask(run: str, path: str) -> Any:
    name, _, query = path.partition("?")
    answer = work_of(entry(run), name, parse_qsl(query))[1]()
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
