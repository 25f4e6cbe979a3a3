"""What Explore says of a head over corpora is what the runs of the same weights say."""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pyarrow.parquet as pq
import pytest

from analysis.descriptions import SHARES
from models.request import Source, TraceRequest
from viz.api import runs, tracing
from viz.api.endpoint import work_of
from viz.api.entries import TraceEntry
from viz.routes import ENDPOINTS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def entry(source: Source, text: str) -> TraceEntry:
    return tracing.entry_for(TraceRequest(model=tracing.stamped(source), input=text)).value


def ask(value: TraceEntry, site: int, head: int) -> list[dict]:
    query = [("site", str(site)), ("head", str(head))]
    return work_of(ENDPOINTS, value, "corpora", query)[1]()["corpora"]


def test_a_head_of_the_list_has_its_sentence_and_the_link_to_its_page() -> None:
    found = entry(Source("catalogue", "induction"), "a b c a b c")
    rows = pq.read_table(runs.FINISHED / "induction" / "heads.parquet").to_pylist()
    numbers = pq.read_table(runs.FINISHED / "induction" / "measures.parquet").to_pylist()
    for row in rows:
        (line,) = ask(found, row["layer"], row["head"])
        assert line["sentence"] == row["sentence"]
        assert f"Over {row['items']:,} texts" in line["sentence"]
        shares = [each for each in numbers if each["id"] == row["id"] and each["measure"] in SHARES]
        largest = max(shares, key=lambda each: each["mean"])
        assert line["title"] == largest["measure"]  # whose titles differ from keys in case only
        assert line["mean"] == {name: largest[name] for name in ("mean", "low", "high")}
        query = dict(parse_qsl(urlsplit(line["link"]).query))
        assert (query["run"], query["attention"]) == ("induction", "causal")
        assert (query["layer"], query["head"]) == (str(row["layer"]), str(row["head"]))


def test_other_weights_of_the_same_name_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    found = entry(Source("catalogue", "induction"), "c b a c b a")
    assert found.opened is not None
    model = found.opened()[0]
    monkeypatch.setitem(model.__dict__, "digest", "of other weights")
    assert ask(found, 0, 0) == []


def test_a_run_of_the_user_comes_first_where_it_is_larger(tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in (runs.FINISHED / "induction").iterdir()}
    larger = files["manifest.json"].replace(b'"texts": ', b'"texts": 9')
    name = runs.keep(files | {"manifest.json": larger})
    found = entry(Source("catalogue", "induction"), "a b a b")
    lines = ask(found, 1, 0)
    assert [dict(parse_qsl(urlsplit(each["link"]).query))["run"] for each in lines] == [
        f"{runs.USERS}{name}",
        "induction",
    ]
