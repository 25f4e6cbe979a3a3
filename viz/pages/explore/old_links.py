"""Links of older versions, in which what lies over a picture had parameters of its own."""

from collections.abc import Mapping

METHODS = ("rollout", "flow", "norms", "gradient", "chefer", "attnlrp")
PROOFS = {"yes": "grey", "drop": "drop"} | {
    name: name for name in ("deletion", "insertion", "road")
}
RENAMED = {"class": "output", "fused": "fusion"}
NAMES = ("relevance", "class", "fused", "discarded", "components", "like")
FEATURES = ("features", "similarity")  # figures that are forms now


def renewed(query: Mapping[str, str]) -> dict[str, str]:
    """A link's parameters as they are now."""
    if query.get("relevance", "") in METHODS:
        return _relevance(query)
    if query.get("figure", "") in FEATURES and query.get("components") == "all":
        return {**query, "figure": "together"}
    if query.get("figure", "") in FEATURES:
        rest = {name: value for name, value in query.items() if name not in (*NAMES, "figure")}
        side = rest.pop("object", "above")
        named = {"foreground": side, "deviations": rest.pop("threshold", "")}
        return rest | {"form": "features"} | {name: value for name, value in named.items() if value}
    return dict(query)


def _relevance(query: Mapping[str, str]) -> dict[str, str]:
    rest = {name: value for name, value in query.items() if name not in (*NAMES, "proof")}
    new = {"form": "model", "method": query["relevance"]}
    new |= {now: query[then] for then, now in RENAMED.items() if then in query}
    if query.get("discarded", "").isdecimal():
        new["discard"] = str(int(query["discarded"]) / 100)
    if query.get("proof") in PROOFS:
        new |= {"tested": "yes", "proof": PROOFS[query["proof"]]}
    return rest | new
