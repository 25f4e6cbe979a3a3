"""The benchmark of the page of a large run: the run that it synthesises, and what it judges."""

from pathlib import Path

import pytest

from analysis.corpus import Run, open_run
from analysis.corpus.samples import KEPT
from analysis.corpus.scales import STRENGTHS
from benchmarks.corpus_page import VALUES, synthesise, text, verdicts
from benchmarks.measure import Spread
from viz.api import corpus
from viz.pack import unpack

TEXTS = 1_100  # three rounds of the values


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    synthesise(folder, 2, 3, TEXTS)
    return open_run(folder)


def test_the_run_is_as_large_as_one_that_was_read(run: Run) -> None:
    assert (len(run.heads), run.manifest["texts"]) == (6, TEXTS)
    count = run.measures["count"]
    assert set(count) == {3 * VALUES}
    histograms = run.table("histograms").to_pandas().groupby(["id", "measure"])["count"].sum()
    assert histograms.tolist() == [3 * VALUES] * len(count)
    distances = run.table("distances").to_pandas().groupby("id")["share"].sum()
    assert distances.tolist() == pytest.approx([1.0] * 6)
    assert run.table("examples").num_rows == 6 * len(STRENGTHS) * KEPT


def test_the_page_shows_it(run: Run) -> None:
    entry = corpus.hold(Path(run.folder)).value
    header, _ = unpack(corpus.overview(entry, "x"))
    assert [site["heads"] for site in header["base"]["sites"]] == [3, 3]
    head = corpus.head(entry, "x", 1, 2)
    assert all(head[part] for part in ("examples", "pairs", "distances", "numbers"))


def test_the_verdict_is_by_the_median_of_pictures_and_by_p95_of_changes() -> None:
    slow = Spread(900.0, 800.0, 2000.0, 3000.0, 9)
    names = ("first picture", "axes", "head")
    report = {"ms": dict.fromkeys(names, slow), "machine": {}, "layers": 2, "heads": 3, "texts": 5}
    assert [row["ms"] for row in verdicts(report)] == [900.0, 3000.0, 3000.0]
    assert "2 layers of 3 heads, 5 texts" in text(report)
