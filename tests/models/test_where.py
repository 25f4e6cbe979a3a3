"""Addresses of attention layers, and the choice of a site by one."""

import re
from dataclasses import replace

import pytest

from models.edits import Ablate, Temperature, at
from models.where import FIELDS, Where, choose, matching, short, stack

MASKS = "decoder.layers.{}.to_image", "decoder.layers.{}.to_token"
SITES = (
    *stack(3, "self", "encoder.layers.{}", "encoder"),
    *stack(3, "self", "decoder.layers.{}.self", "decoder"),
    *stack(2, "cross", MASKS[0], "decoder"),
    *stack(2, "cross", MASKS[1], "decoder"),
    Where(2, "causal", "decoder", "decoder.end", 0),
    Where(2, "causal", "decoder", "decoder.end", 1),
)


@pytest.mark.parametrize("site", SITES)
def test_a_short_address_chooses_the_site(site: Where) -> None:
    found = short(SITES, site)
    assert SITES[choose(SITES, found)] == site
    given = [name for name in FIELDS if getattr(found, name) is not None]
    with pytest.raises(ValueError, match=f"^{given[-1]}: layer {site.layer} has"):
        choose(SITES, replace(found, **{given[-1]: None}))  # its last field is needed


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (Where(3), "layer: expected 0 to 2, received 3"),
        (Where(-4), "layer: expected 0 to 2, received -4"),
        (Where(0), "kind: layer 0 has ['self', 'cross'], received None"),
        (Where(0, "causal"), "kind: layer 0 has ['self', 'cross'], received 'causal'"),
        (Where(0, "self"), "tower: layer 0 has ['encoder', 'decoder'], received None"),
        (
            Where(0, "cross"),
            "module: layer 0 has ['decoder.layers.0.to_image', 'decoder.layers.0.to_token'],"
            " received None",
        ),
        (Where(2, "causal"), "part: layer 2 has [0, 1], received None"),
        (Where(2, "causal", part=2), "part: layer 2 has [0, 1], received 2"),
        (Where(kind="causal", part=2), "part: the model has [0, 1], received 2"),
        (Where(kind="self"), "layer: expected 0 to 2, received None"),
    ],
)
def test_what_is_missing_is_named(where: Where, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        choose(SITES, where)


def test_a_negative_layer_counts_among_what_is_asked_for() -> None:
    assert SITES[choose(SITES, Where(-1, "cross", module=MASKS[1].format(1)))].layer == 1
    assert SITES[choose(SITES, Where(-1, "self", "encoder"))].layer == 2


def test_layers_with_gaps_are_listed() -> None:
    with pytest.raises(ValueError, match=r"layer: expected one of \[1, 4\], received 2"):
        choose([Where(1, "self"), Where(4, "self")], Where(2))


def test_a_module_includes_what_it_contains() -> None:
    nested = Where(0, "self", module="a.b"), Where(0, "self", module="a.b.c")
    assert matching(nested, Where(module="a")) == [0, 1]
    assert matching(nested, Where(module="a.b.c")) == [1]
    assert choose(nested, Where(0, module="a.b")) == 0
    with pytest.raises(ValueError, match="module: the model has"):
        matching(nested, Where(module="a.b.cc"))


def test_a_where_is_written_as_its_constructor_call() -> None:
    assert repr(Where(0, module="a", part=0)) == "Where(layer=0, module='a', part=0)"
    assert repr(Where()) == "Where()"


def test_edits_are_those_of_the_layer_the_kind_and_the_part() -> None:
    one, cross, all_layers = Ablate(0, 1), Ablate(None, 2, kind="cross"), Temperature(0.5)
    assert at([one, cross, all_layers], Where(0, "self")) == (one, all_layers)
    assert at([one, cross, all_layers], Where(1, "self")) == (all_layers,)
    assert at([one, cross, all_layers], Where(0, "cross")) == (one, cross, all_layers)
    first, both = Ablate(2, 0, part=0), Ablate(2, 0)
    assert at([first, both], Where(2, "self", "vision", "a", 0)) == (first, both)
    assert at([first, both], Where(2, "self", "vision", "a", 1)) == (both,)
