"""Links of older versions, which had a page for texts, one for pictures and one for checkpoints."""

from collections.abc import Mapping

from viz.api.samples import TRAINED
from viz.pages.explore import sizes
from viz.pages.state import session

FIRST = "objects" if "objects" in TRAINED else next(iter(TRAINED))
EVERYWHERE = {*session.APP_NAMES, "embed", "embed_options"}


def of_image(query: Mapping[str, str]) -> dict[str, str]:
    """The link to what the page of pictures showed; links without a network name a built one."""
    model = query.get("model", "built" if query.keys() - EVERYWHERE else FIRST)
    if model == "own":
        return {"place": "folder"}
    return {**query, "model": sizes.VIT if model == "built" else model}


MOVED = {"text": dict, "image": of_image, "models": dict}
