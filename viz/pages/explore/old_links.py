"""Links of older versions: pages that were merged, and parameters and edits that are gone."""

import re
from collections.abc import Mapping
from urllib.parse import urlencode

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


METHODS = ("rollout", "flow", "norms", "gradient", "chefer", "attnlrp")
PROOFS = ("yes", "drop", "deletion", "insertion", "road")
NAMES = (
    *("relevance", "class", "fused", "discarded", "components", "like"),
    *("foreground", "deviations"),
)
FEATURES = ("features", "similarity")  # figures that are forms now
OF_HEADS = ("distance", "entropy")  # and those that are numbers of heads
SWEPT = ("matter", "patched", "states")  # which stood below the picture
GONE = ("Drop", "Evict", "SetGate", "SetPositions", "Swap")  # edits
BUILT = {  # networks whose sizes Explore had: a preset of Build, and how they began
    "built": ("small", {"heads": "4", "dim": "64", "depth": "4", "vocab": "4096"}),
    "built-vit": (
        "small-vit",
        {"image": "224", "patch": "16", "heads": "6", "dim": "192", "depth": "6", "classes": "0"},
    ),
}
SIZES = (
    "size",
    "patch",
    "heads",
    "dim",
    "depth",
    "positions",
    "norm",
    "registers",
    "order",
    "seed",
)
HUB = re.compile(r"[\w.-]+/[\w.-]+")
CALL = re.compile(r"(\w+)\((?:[^()]|\([^()]*\))*\)")  # an edit, with lists of numbers in it


def renewed(query: Mapping[str, str]) -> dict[str, str]:
    """A link's parameters as they are now."""
    if query.get("model") in BUILT:
        query = _built(query)
    if query.get("relevance", "") in METHODS:
        return _relevance(query)
    if query.get("compare") == "typed:model":
        rest = {name: value for name, value in query.items() if name != "compare_model"}
        typed = query.get("compare_model", "").strip()
        place = "hub" if HUB.fullmatch(typed) else "folder"
        return {**rest, "compare": f"{place}:{typed}" if typed else ""}
    if query.get("arrangement") == "rank" or "overview" in query:
        return {"lab": "numbers", **query}
    if query.get("figure", "") in FEATURES:
        gone = (*NAMES, "figure", "object", "threshold")
        return {"form": "features"} | {name: query[name] for name in query if name not in gone}
    if query.get("figure", "") in OF_HEADS:
        return {"lab": "numbers"} | {name: query[name] for name in query if name != "figure"}
    if query.get("special", "shown") != "shown" and "sinks" not in query:
        return {**query, "sinks": query["special"]}
    if query.get("states", "")[:1].isdecimal():
        return {**query, "lab": "sweeps", "states": "yes"}
    if "lab" not in query and any(query.get(name, "no") not in ("", "no") for name in SWEPT):
        return {**query, "lab": "sweeps"}
    return dict(query)


def without_gone(edits: str, off: str) -> tuple[dict[str, str], list[str]]:
    """The settings of a list of edits without those that are gone, and the names of these.

    Args:
        edits: the text of the list.
        off: the numbers of those that are switched off.
    """
    calls = [(call[0], call[1]) for call in CALL.finditer(edits)]
    gone = [name for _, name in calls if name in GONE]
    if not gone:
        return {"edits": edits, "off": off}, []
    left = [number for number, (_, name) in enumerate(calls) if name not in GONE]
    numbers = [str(place) for place, number in enumerate(left) if str(number) in off.split(".")]
    text = ", ".join(calls[number][0] for number in left)
    return {"edits": text, "off": ".".join(numbers)}, gone


def _built(query: Mapping[str, str]) -> dict[str, str]:
    """The same network, as Build has it."""
    preset, begin = BUILT[query["model"]]
    sizes = begin | {name: query[name] for name in SIZES if name in query}
    if "size" in sizes:
        sizes["image"] = sizes.pop("size")
    if sizes["dim"].isdecimal():
        sizes["mlp"] = str(4 * int(sizes["dim"]))
    rest = {name: value for name, value in query.items() if name not in (*SIZES, "model")}
    return rest | {"place": "built", "network": urlencode({"preset": preset, **sizes})}


def _relevance(query: Mapping[str, str]) -> dict[str, str]:
    rest = {name: value for name, value in query.items() if name not in (*NAMES, "proof")}
    new = {"form": "model", "method": query["relevance"]}
    new |= {"output": query["class"]} if "class" in query else {}
    if query.get("proof") in PROOFS:
        new |= {"tested": "yes", "proof": query["proof"].replace("yes", "grey")}
    return rest | new
