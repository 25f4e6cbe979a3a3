"""Links of older versions: pages for texts, pictures, checkpoints, architectures and positions."""

from collections.abc import Mapping

from viz.api.samples import TRAINED
from viz.pages.state import session

FIRST = "objects" if "objects" in TRAINED else next(iter(TRAINED))
EVERYWHERE = {*(each.name for each in session.APP_PARAMS), "embed", "embed_options"}


def of_image(query: Mapping[str, str]) -> dict[str, str]:
    """The link to what the page of pictures showed; links without a network name a built one."""
    model = query.get("model", "built" if query.keys() - EVERYWHERE else FIRST)
    if model == "own":
        return {"place": "folder"}
    return {**query, "model": "built-vit" if model == "built" else model}


GRIDS = {"grid": ("small-vit", "sincos2d")}  # schemes of the page of positions, by another name


def of_positions(query: Mapping[str, str]) -> dict[str, str]:
    """The link to what the page of positions showed, which Build took the place of."""
    scheme = query.get("scheme", "sinusoidal")
    preset, scheme = GRIDS.get(scheme, ("small", scheme))
    path = "relation" if scheme in ("rotary", "alibi", "relative") else "positions"
    length, base = query.get("length", "0"), query.get("base", "0")
    heads = {"heads": query["heads"]} if "heads" in query else {}
    opens = {"open": f"p:{path}:{length}:{base}"}
    return {"preset": preset, "positions": scheme, **heads, **opens}


def of_architecture(query: Mapping[str, str]) -> dict[str, str]:
    """The link to a network of the older page, whose lengths were settings."""
    gone = {"part", "tokens", "target", "layer", "attention", "head", "token", "form", "scale"}
    return {name: value for name, value in query.items() if name not in gone | {"direction"}}


MOVED = {  # the page that took the place of each, and what the link is there
    "text": ("", dict),
    "image": ("", of_image),
    "models": ("", dict),
    "architecture": ("build", of_architecture),
    "positions": ("build", of_positions),
}
