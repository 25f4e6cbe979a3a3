"""A run over a corpus as a folder of static files that any web server, or GitHub Pages, can host.

    python -m analysis.corpus --out RUN --site FOLDER [--against RUN_B]

The page is the app's own view without the search by tokens. The heads' pages are JSON, a file each.
With a second run, `changes.json` holds what differs most, by number.
"""

import json
from pathlib import Path
from typing import Any


def write_site(run: Path, out: Path, against: Path | None = None) -> Path:
    """Writes the page of a run and its data.

    Args:
        run: folder of the run.
        out: folder of the site; files of an earlier one are replaced.
        against: folder of a second run that it is compared with.

    Returns:
        The page.

    Raises:
        ValueError: for a folder without a run, and one that holds something else.
        OSError: if there is no room.
    """
    from models.whole_file import write_whole
    from viz.api import compared, corpus
    from viz.api.endpoint import plain
    from viz.selection import OF_VIEWS
    from viz.web import standalone

    entry = corpus.hold(run, against).value
    page = out / "index.html"
    if out.is_dir() and any(out.iterdir()) and not (out / "overview.bin").exists():
        raise ValueError(
            f"{out.name} is not empty, and holds no site of a run: name another folder"
        )
    (out / "heads").mkdir(parents=True, exist_ok=True)
    write_whole(out / "overview.bin", corpus.overview(entry))
    for site, heads in enumerate(entry.heads):
        for head in range(heads):
            answers = {
                "head": plain(corpus.head(entry, site, head)),
                "alike": plain(corpus.alike(entry, site, head)),
            }
            unlink(answers)
            _write(out / "heads" / f"{site}-{head}.json", answers)
    (out / "changes.json").unlink(missing_ok=True)
    if against is not None:
        keys = ("", *(each.key for each in compared.measures(entry.run)))
        _write(out / "changes.json", {key: plain(compared.changes(entry, key)) for key in keys})
    change = compared.largest(entry)
    first = entry.sites[change.site if change else 0]
    props = {
        "kind": "site",
        "page": "site",
        "start": {},
        "defaults": {
            "layer": first.layer,
            "attention": first.kind,
            "tower": first.tower or "",
            "module": "",
            "part": None,
            "head": change.head if change else 0,
            "plot": compared.first_plot(entry) or OF_VIEWS["plot"].start,
            "rank": OF_VIEWS["rank"].start,
        },
        "heads": entry.heads,
    }
    title = f"Heads of {entry.run.manifest['model']['name']} over a corpus"
    write_whole(page, standalone.page(None, props, title=title))
    (out / ".nojekyll").touch()  # GitHub Pages serves the files as they are
    return page


def unlink(answers: dict[str, Any]) -> None:
    """Removes the links of a head's answers, which lead to the app."""
    answers["head"]["link"] = None
    there = answers["head"]["there"] or {"examples": []}
    examples = (*answers["head"]["examples"], *there["examples"])
    for linked in (*examples, *(answers["alike"]["there"] or [])):
        linked["link"] = None


def _write(path: Path, value: Any) -> None:
    from models.whole_file import write_whole

    write_whole(path, json.dumps(value, ensure_ascii=False, separators=(",", ":")))
