"""The weights of torch's own transformer layers, under the names they have here."""

from collections.abc import Mapping

from torch import Tensor

State = dict[str, Tensor]


def block_weights(theirs: State, kind: str) -> State:
    """Of a TransformerEncoderLayer, for a block of this kind of norm."""
    return _renamed(theirs, {"self_attn": "attention"}, _norms(kind, "attention", "feed_forward"))


def decoder_block_weights(theirs: State, kind: str) -> State:
    """Of a TransformerDecoderLayer, for a decoder block of this kind of norm."""
    attentions = {"self_attn": "attention", "multihead_attn": "cross"}
    return _renamed(theirs, attentions, _norms(kind, "attention", "cross", "feed_forward"))


def part_of(state: State, prefix: str) -> State:
    """The entries below a prefix, which is taken away."""
    return {name[len(prefix) :]: each for name, each in state.items() if name.startswith(prefix)}


def _norms(kind: str, *places: str) -> dict[str, str]:
    names = [f"after_{place}.norm" if kind == "post" else f"before_{place}" for place in places]
    return {f"norm{number}": name for number, name in enumerate(names, 1)}


def _renamed(theirs: State, attentions: Mapping[str, str], norms: Mapping[str, str]) -> State:
    names = {"linear1": "feed_forward.up", "linear2": "feed_forward.down", **norms}
    names |= {f"{old}.out_proj": f"{new}.out" for old, new in attentions.items()}
    ours = {}
    for part in ("weight", "bias"):
        for old, new in names.items():
            ours[f"{new}.{part}"] = theirs[f"{old}.{part}"]
        for old, new in attentions.items():
            thirds = theirs[f"{old}.in_proj_{part}"].chunk(3)
            for name, third in zip(("query", "key", "value"), thirds, strict=True):
                ours[f"{new}.{name}.{part}"] = third
    return ours
