"""Each edit of attention in networks of ours, against the same change of explicit matrices."""

from typing import Any

import pytest
import torch

from models.edits import Ablate, Cut, Reference, SetWeights, UsePattern
from models.run import trace
from tests.models.edits.plain import (
    CASES,
    HEADS,
    Case,
    given,
    layer_of,
    network,
    places,
    whole_row,
    written_out,
)
from tests.turns import by_turns

ROUNDING = 1e-5  # float32 through three layers, of outputs of size 4
PLACES = pytest.mark.parametrize(("name", "kind"), places())
ALONE = ("zero", "mean", "token", "layer", "temperature", "cut", "hidden key")


def agree(name: str, kind: str, case: Case) -> Any:
    """The edited pass is the one with the same change of explicit matrices."""
    model, source = network(name), given(name)
    edit = case.make(layer_of(name), kind)
    found, plain = trace(model, *source, edits=[edit]), trace(model, *source)
    site = plain.site(layer_of(name), kind)
    with written_out(model.network, site, **case.changes):
        expected = trace(model, *source)
    torch.testing.assert_close(found.output.values, expected.output.values, rtol=0, atol=ROUNDING)
    assert (found.output.values - plain.output.values).abs().max() > 1e-4, "nothing changed"
    for before, other in zip(plain.sites, found.sites, strict=True):
        if before == site:
            break
        assert found.weights(other).equal(plain.weights(before))
    return found


@pytest.mark.parametrize(("name", "kind", "edit"), by_turns(places(), CASES, 3))
def test_an_edit_is_its_change_of_matrices(name: str, kind: str, edit: str) -> None:
    case = CASES[edit]
    if case.square and kind == "cross":
        with pytest.raises(ValueError, match="expected queries that are keys as well"):
            trace(network(name), *given(name), edits=[case.make(layer_of(name), kind)])
        return
    found = agree(name, kind, case)
    site = found.site(layer_of(name), kind)
    assert found.pattern(site).path == ("fused" if edit in ALONE else "explicit") or name == (
        "encoder–decoder"  # keys and values of two widths are never fused
    )
    if edit == "cut":
        assert not found.weights(site)[[*HEADS]][:, 4:6, 2].any()
    if "as they are" not in edit:
        ones = torch.ones(site.heads, site.queries)
        torch.testing.assert_close(found.weights(site).sum(-1), ones, rtol=0, atol=1e-6)


@PLACES
def test_a_whole_row(name: str, kind: str) -> None:
    site = trace(network(name), *given(name)).site(layer_of(name), kind)
    agree(name, kind, whole_row(site.keys))


@PLACES
def test_the_mean_over_a_reference_set(name: str, kind: str) -> None:
    """Of two traces, over all of their tokens."""
    model, source = network(name), given(name)
    traces = [trace(model, *(x.flip(0) * s for x in source)) for s in (1, 1)]
    site = traces[0].site(layer_of(name), kind)
    values = []
    for t in traces:
        for item in range(2):
            own = (
                t.pattern(site)
                .v[item]
                .repeat_interleave(site.heads // t.pattern(site).v.shape[1], 0)
            )
            values.append(t.weights(site, item=item) @ own)
    mean = torch.cat(values, 1).mean(1)[[*HEADS], None]
    over = Reference.of("both", traces)

    def change(x: torch.Tensor) -> torch.Tensor:
        x[:, HEADS] = mean.expand_as(x[:, HEADS])
        return x

    case = Case(lambda layer, k: Ablate(layer, HEADS, "mean", k, over=over), {"values": change})
    agree(name, kind, case)


@pytest.mark.parametrize("name", ["encoder", "decoder", "encoder–decoder", "ViT"])
def test_noise_has_a_heads_own_mean_and_deviation(name: str) -> None:
    model, source = network(name), given(name)
    edit = Ablate(layer_of(name), 1, "noise", seed=3)
    found, again = (trace(model, *source, edits=[edit]).output.values for _ in range(2))
    other = trace(model, *source, edits=[Ablate(layer_of(name), 1, "noise", seed=4)]).output.values
    assert found.equal(again)
    assert not found.allclose(other)


def test_noise_of_a_head_is_the_same_whatever_else_is_drawn() -> None:
    """By site, head and row: other heads, other items and tokens behind change nothing."""
    dice = torch.Generator().manual_seed(5)
    long = torch.randint(3, 31, (2, 200), generator=dice)
    model = network("encoder")
    one, every = Ablate(1, 2, "noise"), Ablate(1, None, "noise")
    values = []
    for edit in (one, every):
        t = trace(model, long, edits=[edit])
        pattern = t.patterns[1]
        raw = torch.stack([t.weights(1, item=i) @ pattern.v[i] for i in range(2)])
        values.append(pattern.values_edits[0].edit_values(raw, pattern)[:, 2])
    assert values[0].equal(values[1])
    own, plain = values[0][0], raw[0, 2]
    assert abs(float(own.mean() - plain.mean())) < 0.2 * float(plain.std())  # of 200 draws
    assert not values[0][0].allclose(values[0][1])


@pytest.mark.parametrize("name", ["encoder–decoder", "translator", "layer"])
def test_padding_of_the_source_is_none_of_the_target(name: str) -> None:
    """A padded source as long as the target: the target's tokens all count."""
    net = network(name).network
    source = torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 0, 0]])
    target = torch.tensor([[4, 5, 6, 7, 8], [4, 9, 6, 3, 8]])
    more: dict[str, Any] = {"edits": [Ablate(layer_of(name), 0, "mean", "cross")]}
    alone = net(source[1:, :3], target[1:], **more).result[1]
    if name == "layer":
        more["padding"] = source == 0
    else:
        source[source == 0] = net.config.padding
    together = net(source, target, **more).result[1]
    torch.testing.assert_close(together[1:], alone, rtol=0, atol=ROUNDING)


def test_a_set_cell_that_takes_everything() -> None:
    """Over the row's sum, or with nothing left to share out, the row still sums to 1."""
    model, source = network("decoder"), given("decoder")
    for edit, row, expected in (
        (SetWeights(1, 0, 3, 1, 5.0), 3, {1: 1.0}),
        (SetWeights(1, 0, 0, 0, 0.3), 0, {0: 1.0}),
        (SetWeights(1, 0, 3, (0, 1, 2), 0.0), 3, {3: 1.0}),
        (SetWeights(1, 0, 3, (0, 2), (0.9, 0.3)), 3, {0: 0.75, 2: 0.25}),
    ):
        found = trace(model, *source, edits=[edit]).weights(1, 0)[row]
        wanted = torch.zeros_like(found)
        for key, value in expected.items():
            wanted[key] = value
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-6)
    moved = [SetWeights(1, 0, 3, 3, 1.0), SetWeights(1, 0, 3, 3, 0.4)]
    found = trace(model, *source, edits=moved).weights(1, 0)[3]
    torch.testing.assert_close(found[:4], torch.tensor([0.2, 0.2, 0.2, 0.4]), rtol=0, atol=1e-6)


def test_a_pattern_replaced_is_that_before_other_edits_of_weights() -> None:
    """Another head's weights are those of its softmax, temperatures and cuts included."""
    model, source = network("encoder"), given("encoder")
    cut = Cut(1, 1, None, 2)
    edits = [UsePattern(1, 1, "uniform"), UsePattern(1, 0, 1), cut]
    found = trace(model, *source, edits=edits)
    assert found.weights(1, 0).equal(trace(model, *source, edits=[cut]).weights(1, 1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Ablate(0, 0, "token"),
            "token: expected one with how='token' alone, received None",
        ),
        (lambda: Ablate(0, 0, token=3), "token: expected one with how='token' alone, received 3"),
        (lambda: Ablate(True, 0), "layer: expected a whole number or None, received True"),
        (lambda: SetWeights(0, 0, 0, 0, -0.1), "value: expected 0 or more in a row that keeps"),
        (lambda: SetWeights(0, 0, 0, (0, 1), (1.0,)), "value: expected one number, or 2, one for"),
        (lambda: SetWeights(0, 0, 0, 0, float("nan")), "value: expected a number, received nan"),
        (lambda: Reference.of("", []), "expected a name and at least one trace"),
    ],
)
def test_arguments_that_make_no_edit(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Ablate(1, 0, "token", token=7), "token: expected 0 to 6, received 7"),
        (SetWeights(1, 0, 7, 0, 0.5), "query: expected 0 to 6, received 7"),
        (SetWeights(1, 0, 0, 9, 0.5), "key: expected 0 to 6, received 9"),
        (SetWeights(1, 0, 0, None, (0.5,)), "value: expected one number, or 7, one for each key"),
        (UsePattern(1, 0, 3), "head: expected 0 to 2, received 3"),
        (UsePattern(1, 3, "uniform"), "head: expected 0 to 2, received 3"),
    ],
)
def test_places_that_are_not_there(edit: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trace(network("encoder"), *given("encoder"), edits=[edit])


def test_edits_can_be_told_apart_and_counted() -> None:
    made = [case.make(1, "self") for case in CASES.values()]
    assert len({*made}) == len(made)
    assert {case.make(1, "self") for case in CASES.values()} == {*made}
