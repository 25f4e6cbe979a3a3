"""Runs that come with the app, a folder each; `python -m train.corpora` makes them again."""

from pathlib import Path

from analysis.corpus.opened import Run, open_corpus

FINISHED = Path(__file__).parent


def finished_runs() -> dict[str, Run]:
    """The runs that come with the app, by name."""
    return {
        path.parent.name: open_corpus(path.parent)
        for path in sorted(FINISHED.glob("*/manifest.json"))
    }
