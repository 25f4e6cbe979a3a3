"""The runs that come with the app."""

from analysis.corpus.finished import FINISHED, finished_runs
from analysis.corpus.results import NAMES
from models.run import load
from train.corpora import CORPORA

MOST = 6_000_000  # bytes of all of them


def test_they_are_those_that_the_command_makes() -> None:
    found = finished_runs()
    assert found.keys() == CORPORA.keys()
    for name, run in found.items():
        assert run.manifest["status"] == "complete"
        assert run.manifest["corpora"][0]["about"] == CORPORA[name].about
        assert len(run.heads) == run.manifest["heads"]
        for table in NAMES:
            assert run.table(table).num_rows or table in ("tokens", "pairs")
        assert run.heads["sentence"].notna().all()


def test_they_are_small_and_name_no_machine() -> None:
    files = [path for path in FINISHED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST
    assert not [path for path in files if path.suffix not in (".parquet", ".json", ".py", ".pyc")]
    for run in finished_runs().values():
        for content in run.table("texts")["content"].to_pylist():
            assert not content.startswith(("/", "C:"))


def test_they_are_of_the_weights_that_are_here() -> None:
    for name in ("reverse", "induction", "digits"):
        assert finished_runs()[name].manifest["model"]["digest"] == load(name).digest


def test_known_heads_come_first() -> None:
    found = finished_runs()["smollm2-repeated"]
    for key, address in (("induction", (18, 6)), ("previous token", (16, 0))):
        first = found.top(key, 1).iloc[0]
        assert (first["layer"], first["head"]) == address
    assert found.top("induction", 1)["mean"].iloc[0] > 0.4
