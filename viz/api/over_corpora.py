"""What a head of a traced model does over corpora, from the runs of the same weights."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz.api import corpus, runs
from viz.api.compared import measures
from viz.api.endpoint import path_of
from viz.api.entries import RunEntry, TraceEntry
from viz.api.text import site_at

if TYPE_CHECKING:
    from models.model import Model

LISTED = 3  # runs, at most; those over the most inputs come first


def corpora(entry: TraceEntry, site: int, head: int) -> dict[str, Any]:
    """A head's sentence over each corpus that was read by a model with the same weights."""
    known = entry.answers.once("corpora", lambda: _runs(entry))
    where = site_at(entry.view, site).where
    lines = [
        line for name, run in known.items() if (line := _line(name, run, where, head)) is not None
    ]
    return {"corpora": sorted(lines, key=lambda line: -line["inputs"])[:LISTED]}


def _runs(entry: TraceEntry) -> dict[str, RunEntry]:
    """The runs of the same weights, by what a link calls them."""
    if entry.opened is None or not entry.trace.trained:
        return {}
    model = entry.opened()[0]
    entries = {}
    for name, folder in runs.every_folder().items():
        if _is_of(model, folder):
            with suppress(ValueError):  # its page says what is wrong
                entries[name] = corpus.hold(folder).value
    return entries


def _is_of(model: "Model", folder: Path) -> bool:
    """Whether a run was made by these weights; they are read only if the name is the same."""
    from analysis.corpus.manifest import manifest_of

    try:
        described = manifest_of(folder)["model"]
    except (OSError, ValueError):
        return False
    return described["name"] == model.name and described["digest"] == model.digest


def _line(name: str, run: RunEntry, where: Any, head: int) -> dict[str, Any] | None:
    """A head's sentence in one run, with the link to its page; None where it has none."""
    same = (
        (index, each)
        for index, each in enumerate(run.sites)
        if (each.layer, each.kind, each.tower) == (where.layer, where.kind, where.tower)
        and each.part == (where.part or 0)
    )
    index, site = next(same, (0, None))
    if site is None or head >= site.heads:
        return None
    number = corpus.number_of(run, index, head)
    sentence = run.run.heads.loc[number]["sentence"]
    if not sentence:
        return None
    place = {"layer": site.layer, "attention": site.kind, "tower": site.tower, "head": head}
    return {
        "sentence": sentence,
        "about": runs.title_of(run.run.folder),
        "inputs": int(run.run.manifest["texts"]),
        "link": "./" + path_of("corpus", run=name, **place),
        **_largest_share(run, number),
    }


def _largest_share(run: RunEntry, number: int) -> dict[str, Any]:
    """The largest share of a head's weight: its name, and the mean with its interval."""
    from analysis.descriptions import SHARES

    shares = [each for each in corpus.means_of(run, number) if each["key"] in SHARES]
    most = max(shares, key=lambda each: each["mean"], default=None)
    if most is None:
        return {"title": None, "mean": None}
    titles = {each.key: each.title for each in measures(run.run)}
    return {
        "title": titles[most["key"]].lower(),
        "mean": {name: most[name] for name in ("mean", "low", "high")},
    }
