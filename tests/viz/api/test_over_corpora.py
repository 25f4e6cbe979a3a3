"""What Explore says of a head over corpora is what the runs of the same weights say."""

import shutil
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pyarrow.parquet as pq
import pytest

import viz.routes  # noqa: F401
from models.request import Source, TraceRequest
from viz.api import runs, tracing
from viz.api.corpus import CorpusLine
from viz.api.endpoint import work_of
from viz.api.entries import TraceEntry


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def entry(source: Source, text: str) -> TraceEntry:
    return tracing.entry_for(TraceRequest(model=tracing.stamped(source), input=text)).value


def ask(value: TraceEntry, site: int, head: int) -> list[CorpusLine]:
    query = [("site", str(site)), ("head", str(head))]
    return work_of(value, "corpora", query)[1]().corpora


def test_a_head_of_the_list_has_its_sentence_and_the_link_to_its_page() -> None:
    found = entry(Source("catalogue", "induction"), "a b c a b c")
    for row in pq.read_table(runs.FINISHED / "induction" / "heads.parquet").to_pylist():
        (line,) = ask(found, row["layer"], row["head"])
        assert line.sentence.startswith("Over 200 items of its task that it was not trained on, ")
        query = dict(parse_qsl(urlsplit(line.link).query))
        assert (query["run"], query["attention"]) == ("induction", "causal")
        assert (query["layer"], query["head"]) == (str(row["layer"]), str(row["head"]))


def test_a_run_of_the_user_comes_first_where_it_is_larger() -> None:
    folder = runs.home() / "larger"
    shutil.copytree(runs.FINISHED / "induction", folder)
    manifest = (folder / "manifest.json").read_text(encoding="utf-8")
    larger = manifest.replace('"texts": ', '"texts": 9')
    (folder / "manifest.json").write_text(larger, encoding="utf-8")
    found = entry(Source("catalogue", "induction"), "a b a b")
    lines = ask(found, 1, 0)
    assert [dict(parse_qsl(urlsplit(each.link).query))["run"] for each in lines] == [
        f"{runs.USERS}larger",
        "induction",
    ]
