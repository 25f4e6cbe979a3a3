"""A run over a corpus as a folder of static files that any web server, or GitHub Pages, can host.

    python -m analysis.corpus --out RUN --site FOLDER [--against RUN_B]

The page is the app's own view without the search by tokens; each answer of the app is a file of
`data`, named as `viz/web/corpus/site.js` asks for it.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

ABOUT = ("head", "alike")  # what is asked about each head


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
    from viz.api.endpoint import answered, path_of
    from viz.selection import OF_VIEWS
    from viz.web import standalone

    entry = corpus.hold(run, against).value
    page, data = out / "index.html", out / "data"
    if out.is_dir() and any(out.iterdir()) and not (data / file_of("overview")).exists():
        raise ValueError(
            f"{out.name} is not empty, and holds no site of a run: name another folder"
        )
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    heads = [(site, head) for site, each in enumerate(entry.sites) for head in range(each.heads)]
    paths = [path_of(name, site=site, head=head) for site, head in heads for name in ABOUT]
    if against is not None:
        keys = ("", *(each.key for each in compared.measures(entry.run)))
        paths += [path_of("changes", number=key) for key in keys]
    write_whole(data / file_of("overview"), answered(entry, "overview"))
    for path in paths:
        answer = json.dumps(unlinked(json.loads(answered(entry, path))), ensure_ascii=False)
        write_whole(data / file_of(path), answer)
    props = {
        "kind": "site",
        "page": "site",
        "start": {},
        "defaults": {
            **compared.begin(entry),
            "module": "",
            "part": None,
            "plot": compared.first_plot(entry) or OF_VIEWS["plot"].start,
            "rank": OF_VIEWS["rank"].start,
        },
    }
    title = f"Heads of {entry.run.manifest['model']['name']} over a corpus"
    write_whole(page, standalone.page(None, props, title=title))
    (out / ".nojekyll").touch()  # GitHub Pages serves the files as they are
    return page


def file_of(path: str) -> str:
    """The name of the file that has the answer to a path."""
    return re.sub(r"\W+", "-", unquote(path)) + ".bin"


def unlinked(answer: Any) -> Any:
    """An answer without its links, which lead into the app."""
    if isinstance(answer, list):
        return [unlinked(each) for each in answer]
    if isinstance(answer, dict):
        return {key: None if key == "link" else unlinked(answer[key]) for key in answer}
    return answer
