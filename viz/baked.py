"""Writes what the app shows before PyTorch is there: `python -m viz.baked`.

The answers of the first pictures, and the pictures of the cards. A test compares.
"""

from urllib.parse import parse_qsl

from viz.api import baked, tracing
from viz.api.endpoint import work_of
from viz.api.routes import body_of
from viz.pages.explore import opening, welcome
from viz.routes import ENDPOINTS
from viz.web import VIZ


def main() -> None:
    """Writes the files."""
    from viz.pages.explore import thumbnails

    known = ((opening.of_text(m), tracing.TOKENS, answers(m)) for m in opening.MODELS)
    baked.FILE.write_bytes(baked.write(known))
    folder = VIZ / welcome.PICTURES
    folder.mkdir(exist_ok=True)
    for name, data in [*thumbnails.files(), (thumbnails.SHARE, thumbnails.of_links())]:
        (folder / name).write_bytes(data)


def answers(model: str) -> baked.Answers:
    """What the result of a model's first example answers."""
    held = tracing.entry_for(opening.of_text(model))
    by_path = {}
    for path in opening.paths(model):
        name, _, query = path.partition("?")
        _, work = work_of(ENDPOINTS, held.value, baked.ID, name, parse_qsl(query))
        by_path[baked.plain(path)] = baked.Answer(*body_of(work()))
    return by_path


if __name__ == "__main__":
    main()
