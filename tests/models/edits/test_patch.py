"""Activations of another pass, in networks of ours: against explicit matrices and blocks."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.rollout import rollout
from models.edits import AblateMLP, Patch
from models.edits.text import format_edits, parse_edits
from models.run import Trace, trace
from tests.models.edits.plain import given, layer_of, network, places, written_out
from tests.turns import by_turns

ROUNDING = 1e-5  # float32 through three layers, of outputs of size 4
ROWS: dict[str, tuple[Any, Any, Any]] = {  # token, token of the source, head
    "one": (3, None, 1),
    "all": (None, None, None),
    "others": ((1, 4), (4, 2), (0, 1)),
    "from one": ((0, 2, 5), 1, None),
}
TOWERS: dict[str, tuple[str | None, ...]] = {
    "encoder": (None,),
    "encoder, pre-norm": (None,),
    "decoder": (None,),
    "decoder, grouped": (None,),
    "ViT": (None,),
    "encoder–decoder": ("encoder", "decoder"),
    "translator": ("encoder", "decoder"),
}
STACKS = pytest.mark.parametrize(
    ("name", "tower"), [(n, t) for n, every in TOWERS.items() for t in every]
)


def other(name: str) -> tuple[Any, ...]:
    """Another input of the same size."""
    return tuple(x.roll(2, 1) if x.ndim == 2 else x.flip(0) * 0.5 for x in given(name))


@cache
def passes(name: str) -> tuple[Trace, Trace]:
    """The pass of an input, and of another."""
    hidden = name != "layer"
    return (
        trace(network(name), *given(name), hidden=hidden),
        trace(network(name), *other(name), hidden=hidden),
    )


@pytest.mark.parametrize(
    ("name", "kind", "patched"),
    by_turns(places(), [f"{what}: {rows}" for what in ("q", "k", "v", "head") for rows in ROWS], 3),
)
def test_attention_of_another_pass(name: str, kind: str, patched: Any) -> None:
    """The same rows of the same matrices; key heads count for keys and values."""
    what, _, rows_of = patched.partition(": ")
    token, theirs, head = ROWS[rows_of]
    plain, source = passes(name)
    layer = layer_of(name)
    site = plain.site(layer, kind)
    pattern = source.pattern(site)
    group = pattern.heads // pattern.k.shape[1]
    wide = pattern.v.repeat_interleave(group, 1)
    weights = torch.stack([source.weights(site, item=item) for item in range(2)])
    from_there = {"q": pattern.q, "k": pattern.k, "v": pattern.v, "head": weights @ wide}[what]
    heads = [*range(from_there.shape[1])] if head is None else [head] if head == 1 else [*head]
    rows = [*range(from_there.shape[2])] if token is None else [token] if token == 3 else [*token]
    whose = rows if theirs is None else [1] * len(rows) if theirs == 1 else [*theirs]

    def change(x: Tensor) -> Tensor:
        for h in heads:
            for row, its in zip(rows, whose, strict=True):
                x[:, h, row] = from_there[:, h, its]
        return x

    edit = Patch(layer, what, source, token, theirs, head, kind)
    found = trace(network(name), *given(name), edits=[edit])
    with written_out(network(name).network, site, **{"values" if what == "head" else what: change}):
        expected = trace(network(name), *given(name))
    torch.testing.assert_close(found.output.values, expected.output.values, rtol=0, atol=ROUNDING)
    assert found.pattern(found.site(layer, kind)).path == plain.pattern(site).path
    if name != "ViT":  # whose last class token may not see the patched tokens
        assert not found.output.values.equal(plain.output.values)
    if what != "head" and rows:
        mine = getattr(found.pattern(layer, kind=kind), what)
        assert mine[:, heads][:, :, rows].equal(from_there[:, heads][:, :, whose])


def stack_of(name: str, tower: str | None) -> Any:
    net = network(name).network
    return net.encoder.blocks if tower == "encoder" else net.blocks


def count_of(name: str, tower: str | None) -> int:
    return len(stack_of(name, tower))


@contextmanager
def replaced(name: str, tower: str | None, layer: int, change: Any) -> Iterator[None]:
    """Inside, what enters the first block or leaves another is changed by hand."""
    blocks = stack_of(name, tower)
    if layer == 0:
        hook = blocks[0].register_forward_pre_hook(
            lambda module, args: (change(args[0].clone()), *args[1:])
        )
    else:
        hook = blocks[layer - 1].register_forward_hook(
            lambda module, args, out: (change(out[0].clone()), *out[1:])
        )
    try:
        yield
    finally:
        hook.remove()


@STACKS
def test_a_hidden_state_of_another_pass(name: str, tower: str | None) -> None:
    plain, source = passes(name)
    for layer in range(count_of(name, tower) + 1):
        theirs = torch.stack([source.hidden(layer, item, tower=tower) for item in range(2)])

        def change(x: Tensor, theirs: Tensor = theirs) -> Tensor:
            x[:, 2], x[:, 4] = theirs[:, 5], theirs[:, 4]
            return x

        edit = Patch(layer, "hidden", source, (2, 4), (5, 4), tower=tower)
        found = trace(network(name), *given(name), edits=[edit], hidden=True)
        with replaced(name, tower, layer, change):
            expected = trace(network(name), *given(name))
        torch.testing.assert_close(
            found.output.values, expected.output.values, rtol=0, atol=ROUNDING
        )
        own = found.hidden(layer, tower=tower)
        assert own[2].equal(theirs[0, 5])
        assert own[4].equal(theirs[0, 4])
        before = plain.hidden(layer, tower=tower)
        assert own[[0, 1, 3, 5]].equal(before[[0, 1, 3, 5]])


@STACKS
def test_patching_everything_gives_the_other_output(name: str, tower: str | None) -> None:
    plain, source = passes(name)
    for layer in range(count_of(name, tower) + 1):
        edits: list[Any] = [Patch(layer, "hidden", source, tower=tower)]
        if tower == "encoder":
            edits.append(Patch(0, "hidden", source, tower="decoder"))
        if tower == "decoder":
            last = count_of(name, "encoder")
            edits.append(Patch(last, "hidden", source, tower="encoder"))
        if tower == "decoder" and name == "translator" and layer not in (0, 2):
            continue  # its recurrent cells are not in the states between blocks
        found = trace(network(name), *given(name), edits=edits)
        torch.testing.assert_close(found.output.values, source.output.values, rtol=0, atol=ROUNDING)
    assert not plain.output.values.allclose(source.output.values)


def test_one_item_serves_several() -> None:
    _, source = passes("encoder")
    alone = trace(network("encoder"), other("encoder")[0][:1], hidden=True)
    found = trace(network("encoder"), *given("encoder"), edits=[Patch(1, "hidden", alone)])
    for item in range(2):
        torch.testing.assert_close(
            found.output.values[item], source.output.values[0], rtol=0, atol=ROUNDING
        )


def test_edits_apply_in_order() -> None:
    """A patch from a pass that was patched itself: what it got there, it brings here."""
    _, source = passes("decoder")
    first = trace(
        network("decoder"), *given("decoder"), edits=[Patch(1, "head", source, 3, head=1)]
    )
    second = trace(
        network("decoder"), *given("decoder"), edits=[Patch(1, "head", first, 3, head=1)]
    )
    assert second.output.values.equal(first.output.values)


def test_whole_model_numbers_say_that_values_are_of_another_input() -> None:
    _, source = passes("encoder")
    edits = [Patch(1, "head", source, 3, head=1)]
    found = trace(network("encoder"), *given("encoder"), edits=edits, hidden=True)
    with pytest.raises(ValueError, match="changes values: they are those of another input"):
        rollout(found)
    assert found.effective_weights(found.sites[1], 0).equal(found.weights(1, 0))


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("encoder", lambda t: Patch(None, "hidden", t), "hidden: expected a layer, and a tower"),
        ("encoder", lambda t: Patch(9, "hidden", t), "source: layer: expected 0 to 3, received 9"),
        ("encoder", lambda t: Patch(1, "hidden", t, head=1), "head: a hidden state has none"),
        ("encoder", lambda t: Patch(1, "q", t, (1, 2), (3,)), "expected 2 tokens, received 1"),
        ("encoder", lambda t: Patch(1, "q", t, None, 3), "source_token: expected one with a token"),
        ("encoder–decoder", lambda t: Patch(1, "hidden", t), "source: tower: expected one of"),
    ],
)
def test_patches_that_are_none(name: str, make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(passes(name)[1])


def test_a_patch_that_does_not_fit() -> None:
    _, source = passes("encoder")
    short = trace(network("encoder"), given("encoder")[0][:1, :4], hidden=True)
    bare = trace(network("encoder"), *given("encoder"))
    decoder = passes("decoder, grouped")[1]
    with pytest.raises(ValueError, match="source: no hidden states recorded"):
        Patch(1, "hidden", bare)
    for edit, message in (
        (Patch(1, "hidden", short), "expected a source of 7 tokens, received 4: choose a token"),
        (Patch(1, "q", short, 5), "source_token: expected 0 to 3, received 5"),
        (Patch(1, "q", source, 9, 1), "token: expected 0 to 6, received 9"),
        (Patch(1, "k", source, 1, head=3), "head: expected 0 to 2, received 3"),
        (Patch(1, "k", decoder, 1), "expected self"),
        (Patch(3, "q", source, 1), "layer: expected 0 to 2, received 3"),
        (AblateMLP(3), "layer: expected 0 to 2, received 3"),
    ):
        with pytest.raises(ValueError, match=message if message != "expected self" else "source"):
            trace(network("encoder"), *given("encoder"), edits=[edit])
    three = torch.cat([given("encoder")[0]] * 2)[:3]
    with pytest.raises(ValueError, match="expected a source of 3 items, received 2"):
        trace(network("encoder"), three, edits=[Patch(1, "q", source, 1)])
    with pytest.raises(ValueError, match="this network has no feed-forward network"):
        trace(network("layer"), *given("layer"), edits=[AblateMLP(0)])


def test_a_patch_is_written_by_the_name_of_its_source() -> None:
    _, source = passes("encoder")
    edits = (Patch(1, "hidden", source, 3, 4), Patch(0, "k", source, (1, 2), head=0), AblateMLP(2))
    text = format_edits(edits, {"other": source})
    assert text == (
        "Patch(1, 'hidden', 'other', token=3, source_token=4),"
        " Patch(0, 'k', 'other', token=(1, 2), head=0), AblateMLP(2)"
    )
    assert parse_edits(text, {"other": source}) == edits
    assert [edit.describe() for edit in edits] == [
        "Hidden state 1: token 3 gets that of token 4 of another input.",
        "Layer 0, key head 0: keys of tokens 1 and 2 become those of tokens 1 and 2 of another"
        " input.",
        "Layer 2: the MLP adds nothing, which leaves the distribution of activations that the model"
        " was trained with.",
    ]
    with pytest.raises(ValueError, match="its source has no name that can be written"):
        format_edits(edits)
    with pytest.raises(ValueError, match="source: expected other, received 'x'"):
        parse_edits("Patch(1, 'q', 'x')", {"other": source})
    assert len({*edits}) == 3
