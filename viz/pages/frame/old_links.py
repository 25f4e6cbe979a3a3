"""Links of older versions, which had a page for texts, one for pictures and one for checkpoints."""

from collections.abc import Mapping

from viz.api.samples import TRAINED
from viz.pages.explore import sizes
from viz.pages.state import session

FIRST = "objects" if "objects" in TRAINED else next(iter(TRAINED))
BEGIN = {"layer": "0", "head": "0"}  # the selection that these pages began with
EVERYWHERE = (*session.APP_NAMES, "embed", "embed_options")


def of_image(query: Mapping[str, str]) -> dict[str, str]:
    """The link to what the page of pictures showed; links without a network name a built one."""
    others = {name for name in query if name not in EVERYWHERE}
    now = {"model": "built" if others else FIRST, **query}
    if now["model"] == "own":
        return {"place": "folder"}
    if now["model"] == "built":
        now["model"] = sizes.VIT
    if {"photo", "upload"} & query.keys() or now["model"] == sizes.VIT:
        now = {**BEGIN, "token": "0", **now}
    if now.get("fit") in ("pad", "stretch"):
        now["resize"] = now["fit"]
    now.pop("fit", None)
    if "over" in now:
        now["components"] = now.pop("over")
    kind, _, name = now.get("compare", "").partition(":")
    if kind == "model":
        now["compare"] = "built:vit" if name == "built" else f"catalogue:{name}"
    return now


def of_models(query: Mapping[str, str]) -> dict[str, str]:
    """The link to what the page of checkpoints showed."""
    return {**BEGIN, **query}


MOVED = {"text": dict, "image": of_image, "models": of_models}
