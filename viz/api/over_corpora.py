"""What a head of a traced model does over corpora, from the runs of the same weights."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz.api import corpus, runs
from viz.api.endpoint import endpoint, path_of
from viz.api.entries import RunEntry, TraceEntry

if TYPE_CHECKING:
    from models.model import Model

LISTED = 3  # runs, at most; those over the most inputs come first


@dataclass(frozen=True)
class CorpusLine:
    """What a head does over one corpus, with the link to its page."""

    sentence: str
    link: str


@dataclass(frozen=True)
class Corpora:
    """What a head does over those that its model has read."""

    corpora: list[CorpusLine]


@endpoint("corpora")
def corpora(entry: TraceEntry, site: int, head: int) -> Corpora:
    """A head's sentence over each corpus that was read by a model with the same weights."""
    known = entry.answers.once("corpora", lambda: _runs(entry))
    where = entry.view.sites[site].where
    lines = [_line(name, run, where, head) for name, run in known]
    return Corpora([line for line in lines if line is not None][:LISTED])


def _runs(entry: TraceEntry) -> list[tuple[str, RunEntry]]:
    """The runs of the same weights with what a link calls them, the largest first."""
    if entry.opened is None or not entry.trace.trained:
        return []
    model = entry.opened()[0]
    entries = []
    for name, folder in runs.folders().items():
        if _is_of(model, folder):
            with suppress(ValueError):  # its page says what is wrong
                entries.append((name, corpus.hold(folder).value))
    return sorted(entries, key=lambda each: -each[1].run.manifest["texts"])


def _is_of(model: "Model", folder: Path) -> bool:
    """Whether a run was made by these weights; they are read only if the name is the same."""
    from analysis.corpus.files import manifest_of

    try:
        described = manifest_of(folder)["model"]
    except (OSError, ValueError):
        return False
    return described["name"] == model.name and described["digest"] == model.digest


def _line(name: str, run: RunEntry, where: Any, head: int) -> CorpusLine | None:
    """A head's sentence in one run; None where it has none."""
    address = (where.layer, where.kind, where.tower, where.part or 0)
    for number, site in enumerate(run.sites):
        if (site.layer, site.kind, site.tower, site.part) == address and head < site.heads:
            sentence = run.run.heads.loc[run.number_of(number, head)]["sentence"]
            place = {"layer": site.layer, "attention": site.kind, "tower": site.tower}
            link = "./" + path_of("corpus", run=name, **place, head=head)
            return CorpusLine(sentence, link) if sentence else None
    return None
