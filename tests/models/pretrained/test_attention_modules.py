"""Which tower and block an attention layer belongs to, told from its path."""

from typing import Any

import pytest
from torch import nn

from models.pretrained.attention_modules import AttentionModules, ancestors, uses_interface


class Traced(nn.Module):
    def forward(self, x: Any) -> Any:
        attention_interface = self.get_submodule("chosen")
        return attention_interface(x)


class UntracedAttention(nn.Module):
    def forward(self, x: Any) -> Any:
        return nn.functional.softmax(x, -1)


class Mixer(nn.Module):
    """A softmax in a layer that is no attention."""

    def forward(self, x: Any) -> Any:
        return nn.functional.softmax(x, -1)


def network(*paths: str, **others: nn.Module) -> nn.Module:
    """A network with an attention layer at each path, and other modules at paths of their own."""
    root = nn.Module()
    for path, module in [*((path, Traced()) for path in paths), *others.items()]:
        parent = root
        *above, name = path.split(".")
        for part in above:
            if part not in dict(parent.named_children()):
                parent.add_module(part, nn.Module())
            parent = parent.get_submodule(part)
        parent.add_module(name, module)
    return root


@pytest.mark.parametrize(
    "expected",
    [
        {"layers.0.attn": (None, 0), "layers.1.attn": (None, 1)},
        {"attn": (None, 0)},
        {"encoder.layers.0.a": ("encoder", 0), "decoder.layers.0.a": ("decoder", 0)},
        {"text_model.b.layers.0.a": ("text", 0), "vision_tower.b.layers.0.a": ("vision", 0)},
        {"model.layers.0.a": ("layers", 0), "model.visual.blocks.0.a": ("visual", 0)},
        {"a.b.c.0.x": ("c", 0), "a.b.c.d.0.x": ("d", 0)},
        # beside a stack: its tower, after its blocks
        {
            "encoder.layers.0.a": ("encoder", 0),
            "encoder.layers.1.a": ("encoder", 1),
            "encoder.pool": ("encoder", 2),
            "decoder.layers.0.a": ("decoder", 0),
        },
        # beside the only stack: no tower either
        {"m.layers.0.a": (None, 0), "m.layers.1.a": (None, 1), "m.pool": (None, 2)},
        {"m.pool.a": ("pool", 0), "m.layers.0.a": ("layers", 0)},
        # above two stacks: neither's
        {
            "m.text.layers.0.a": ("text", 0),
            "m.image.layers.0.a": ("image", 0),
            "m.pool": ("m", 0),
        },
        # stages of blocks are counted through; blocks without attention count too
        {
            "stages.0.blocks.0.a": (None, 0),
            "stages.0.blocks.1.a": (None, 1),
            "stages.1.blocks.0.a": (None, 2),
        },
        {"layers.1.a": (None, 1), "layers.3.a": (None, 3)},
    ],
)
def test_towers_and_blocks(expected: dict[str, tuple[str | None, int]]) -> None:
    gaps = {f"layers.{n}": nn.Module() for n in (0, 2)} if "layers.3.a" in expected else {}
    found = AttentionModules.find_in(network(*expected, **gaps)).modules.values()
    assert {each.path: (each.tower, each.layer) for each in found} == expected


def test_a_block_of_unlike_parts_is_one_block() -> None:
    """Attention, then feed-forward: the number of the part is none of a block."""
    others = {f"blocks.{n}.1": nn.Linear(3, 3) for n in range(2)}
    made = network("blocks.0.0", "blocks.1.0", **others)
    found = AttentionModules.find_in(made)
    assert found.layers == {"blocks.0.0": 0, "blocks.1.0": 1}
    alike = AttentionModules.find_in(network("blocks.0.0", "blocks.0.1", "blocks.1.0"))
    assert alike.layers == {"blocks.0.0": 0, "blocks.0.1": 1, "blocks.1.0": 2}


def test_a_shared_layer_has_a_path_in_every_block() -> None:
    made, shared = network("layers.0.a"), Traced()
    made.get_submodule("layers").add_module("1", nn.Module())
    for block in ("layers.0", "layers.1"):
        made.get_submodule(block).add_module("a", shared)
    (found,) = AttentionModules.find_in(made).modules.values()
    assert (found.path, found.paths) == ("layers.0.a", ("layers.0.a", "layers.1.a"))
    assert found.stack == "layers"


def test_a_layer_that_towers_share_is_of_the_first() -> None:
    made, shared = network("encoder.layers.0.a"), Traced()
    for tower, number in (("encoder", 0), ("decoder", 1)):
        made.add_module(tower, network("layers.0.own", "layers.1.own"))
        made.get_submodule(f"{tower}.layers.{number}").add_module("shared", shared)
    made.get_submodule("decoder.layers.1").window_size = 4  # type: ignore[assignment]
    found = {e.path: e for e in AttentionModules.find_in(made).modules.values()}
    paths = ("encoder.layers.0.shared", "decoder.layers.1.shared")
    first = found[paths[0]]
    assert first.paths == paths
    assert (first.tower, first.layer, first.stack) == ("encoder", 0, "encoder.layers")
    assert first.windows is None
    assert found["decoder.layers.0.own"].tower == "decoder"


@pytest.mark.parametrize("size", [1, 4])
def test_the_block_that_cuts_windows(size: int) -> None:
    made = network("stages.0.blocks.0.attn.core", "stages.0.blocks.1.attn.core")
    block = made.get_submodule("stages.0.blocks.1")
    block.window_size = size  # type: ignore[assignment]
    made.get_submodule("stages.0.blocks.0").window_size = 0  # type: ignore[assignment]
    found = {e.path: e.windows for e in AttentionModules.find_in(made).modules.values()}
    assert list(found.values()) == [None, "stages.0.blocks.1"]


def test_what_bypasses_the_interface_is_named() -> None:
    found = AttentionModules.find_in(network("a.0.x", **{"a.1.x": UntracedAttention()}))
    assert found.untraceable == ("UntracedAttention",)
    assert [uses_interface(each) for each in (Traced, UntracedAttention, Mixer, nn.Linear)] == [
        True,
        False,
        None,
        None,
    ]


def test_paths_above() -> None:
    assert list(ancestors("a.b.0.c")) == ["a.b.0", "a.b", "a", ""]
    found = AttentionModules.find_in(network("model.layers.0.attn", "model.layers.1.attn"))
    assert found.containers == {"model.layers", "model", ""}


def test_a_module_that_was_not_found() -> None:
    place = AttentionModules.find_in(network("layers.0.attn")).of(UntracedAttention())
    assert (place.path, place.tower, place.layer) == ("UntracedAttention", None, 0)
    assert (place.stack, place.paths) == ("UntracedAttention", ("UntracedAttention",))
