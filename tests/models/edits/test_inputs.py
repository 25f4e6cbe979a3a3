"""Edits of the input and of positions: against passes of inputs that were changed by hand."""

from typing import Any, Literal

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from models.decoder import DecoderConfig
from models.edits import Ablate, Cover, Cut, Drop, SetPositions, Swap, region
from models.edits.text import format_edits, parse_edits
from models.encoder import EncoderConfig
from models.inputs.edited import edited_image
from models.run import load, trace
from models.vit import ViTConfig
from tests.models.edits.architectures import inputs, model
from tests.models.edits.plain import SIZES, given, network
from tests.models.pretrained.tiny import BY_NAME, padded

ROUNDING = 1e-5  # float32 through three layers
SWAPPED = [0, 4, 2, 3, 1, 5, 6]
LEFT = [0, 2, 3, 6]


def same(found: Any, expected: Any) -> None:
    """Two passes with the same output, weights and labels."""
    for item in range(len(expected.tokens)):
        mine, theirs = (t.output.of_item(item) for t in (found, expected))
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-4)
    assert found.tokens == expected.tokens
    assert found.target_tokens == expected.target_tokens
    for mine, theirs in zip(found.sites, expected.sites, strict=True):
        torch.testing.assert_close(found.weights(mine), expected.weights(theirs), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["encoder", "decoder", "encoder–decoder", "translator", "layer"])
@pytest.mark.parametrize(
    ("edit", "order"), [(Swap(1, 4), SWAPPED), (Drop((1, 4, 5)), LEFT), (Drop(6), [*range(6)])]
)
def test_tokens_of_the_source(name: str, edit: Any, order: list[int]) -> None:
    source, *target = given(name)
    found = trace(network(name), source, *target, edits=[edit])
    same(found, trace(network(name), source[:, order], *target))
    further = trace(network(name), source, *target, edits=[edit, Ablate(0, 1)])
    same(further, trace(network(name), source[:, order], *target, edits=[Ablate(0, 1)]))


@pytest.mark.parametrize("name", ["encoder–decoder", "translator", "layer"])
def test_tokens_of_the_target(name: str) -> None:
    """Of what the decoder reads: its begin symbol counts."""
    source, target = given(name)
    plain = trace(network(name), source, target)
    found = trace(network(name), source, target, edits=[Drop(2, target=True)])
    assert plain.target_tokens is not None
    ids = torch.tensor([item.ids for item in plain.target_tokens])[:, [0, 1, 3, 4, 5]]
    net = network(name).network
    assert found.output.values.allclose(net(source, ids).result[1], atol=ROUNDING)


def test_segments_and_padding_move_with_their_tokens() -> None:
    model_ = load(EncoderConfig(**SIZES, vocab=31, segments=2))
    rows = torch.randint(3, 31, (2, 7), generator=torch.Generator().manual_seed(1))
    kinds = torch.tensor([[0, 0, 1, 0, 1, 1, 1], [0, 1, 1, 0, 1, 0, 0]])
    shown = torch.tensor([[1] * 7, [1, 1, 1, 1, 1, 0, 0]])
    whole = {"input_ids": rows, "attention_mask": shown, "token_type_ids": kinds * shown}
    found = trace(model_, whole, edits=[Swap(1, 4), Drop(0)])
    order = [4, 2, 3, 1, 5, 6]
    moved = {key: value[:, order] for key, value in whole.items()}
    same(found, trace(model_, moved))


@pytest.mark.parametrize(("name", "left"), [("BERT", False), ("Llama", False), ("Llama", True)])
@pytest.mark.parametrize("edit", [Swap(1, 4), Drop((1, 4, 5))], ids=["swap", "drop"])
def test_tokens_of_a_library_model(name: str, left: bool, edit: Any) -> None:
    whole = padded(2, 11, 4, left=left)
    found = trace(model(name), whole, edits=[edit])
    orders = [edit.edit_order(11), edit.edit_order(7)]
    width = max(map(len, orders))
    made = {key: torch.zeros(2, width, dtype=torch.long) for key in whole}
    for item, order in enumerate(orders):
        own = whole["attention_mask"][item].nonzero().flatten()[order]
        part = slice(width - len(order), None) if left else slice(0, len(order))
        for key, value in whole.items():
            made[key][item, part] = value[item, own]
    same(found, trace(model(name), made))


def test_tokens_of_an_encoder_decoder_of_the_library() -> None:
    whole = inputs("T5")
    found = trace(model("T5"), whole, edits=[Swap(1, 4), Drop(3, target=True)])
    moved = {
        "input_ids": whole["input_ids"][:, [0, 4, 2, 3, 1, *range(5, 11)]],
        "decoder_input_ids": whole["decoder_input_ids"][:, [0, 1, 2, 4, 5, 6]],
    }
    same(found, trace(model("T5"), moved))


def blurred(x: Tensor, size: int) -> Tensor:
    """A Gaussian of one patch, pixel by pixel, edges repeated."""
    place = torch.arange(-2 * size, 2 * size + 1, dtype=torch.float64)
    kernel = (-(place**2) / (2 * size**2)).exp()
    kernel = kernel / kernel.sum()
    wide = torch.nn.functional.pad(x.double(), (2 * size,) * 4, mode="replicate")
    both = kernel[:, None] * kernel[None]
    found = torch.zeros_like(x, dtype=torch.float64)
    for row in range(x.shape[2]):
        for col in range(x.shape[3]):
            part = wide[:, :, row : row + len(place), col : col + len(place)]
            found[:, :, row, col] = (part * both).sum((2, 3))
    return found.float()


@pytest.mark.parametrize("where", ["ours", "ViT", "DINOv2 with registers"])
@pytest.mark.parametrize(
    "edit", [Cover((1, 5)), Cover(5, "blur"), Cover(None), Swap(1, 5)], ids=str
)
def test_patches_of_a_picture(where: str, edit: Any) -> None:
    if where == "ours":
        net: Any = load(ViTConfig(**SIZES, image=12, patch=4, classes=3))
        pixels, rows = torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(1)), 3
    else:
        net, pixels, rows = model(where), inputs(where)["pixel_values"], 5
    made, parts = pixels.clone(), {}
    for patch in range(rows * rows):
        row, col = patch // rows * 4, patch % rows * 4
        parts[patch] = (slice(None), slice(None), slice(row, row + 4), slice(col, col + 4))
    if isinstance(edit, Swap):
        made[parts[1]], made[parts[5]] = pixels[parts[5]], pixels[parts[1]]
    else:
        cover = pixels.mean((2, 3), keepdim=True).expand_as(pixels)
        cover = blurred(pixels, 4) if edit.how == "blur" else cover
        for patch in parts if edit.patch is None else (1, 5) if edit.how == "mean" else (5,):
            made[parts[patch]] = cover[parts[patch]]
    found = trace(net, pixels if where == "ours" else {"pixel_values": pixels}, edits=[edit])
    same(found, trace(net, made if where == "ours" else {"pixel_values": made}))


def test_a_region() -> None:
    t = trace(network("ViT"), *given("ViT"))
    assert t.grid == (3, 3)
    assert region(t.grid, 1, 0, 2, 1) == (3, 4, 6, 7)
    assert region(t.query_grid(t.sites[0]), 0, 2, 2, 2) == (2, 5, 8)
    keys = tuple(t.prefix + patch for patch in region(t.grid, 1, 0, 2, 1))
    hidden = trace(network("ViT"), *given("ViT"), edits=[Cut(None, None, None, keys)])
    for site in hidden.sites:
        assert not hidden.weights(site)[..., list(keys)].any()
        torch.testing.assert_close(
            hidden.weights(site).sum(-1), torch.ones(3, 10), rtol=0, atol=1e-6
        )
    with pytest.raises(ValueError, match="region: expected rows 0 to 2 and columns 0 to 2, rec"):
        region(t.grid, 1, 0, 3, 1)


# --- positions -----------------------------------------------------------------------------------

POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative")
ORDERS = {
    "none": (SetPositions("none"), [0] * 7),
    "shuffled": (
        SetPositions("shuffled", seed=3),
        torch.randperm(7, generator=torch.Generator().manual_seed(3)).tolist(),
    ),
    "shifted": (SetPositions("shifted", 4), [*range(4, 11)]),
}


@pytest.mark.parametrize("kind", POSITIONS)
@pytest.mark.parametrize("how", ORDERS)
def test_positions_of_a_decoder_are_those_of_tokens_moved(kind: str, how: str) -> None:
    """Without a mask the order of tokens is their positions alone: moved tokens tell the same.

    An encoder reads the tokens at the places that the positions name, others hidden from all.
    """
    edit, order = ORDERS[how]
    model_ = load(EncoderConfig(**{**SIZES, "dim": 24, "heads": 3}, vocab=31, positions=kind))
    rows = given("encoder")[0]
    found = trace(model_, rows, edits=[edit]).output.values
    plain = trace(model_, rows).output.values
    if how == "none":
        tokens = trace(model_, rows.sort(1).values, edits=[edit]).output.values
        back = rows.argsort(1).argsort(1)
        moved = torch.stack([x[own] for x, own in zip(tokens, back, strict=True)])
        torch.testing.assert_close(found, moved, rtol=0, atol=ROUNDING)  # order tells nothing
        assert not found.allclose(plain, atol=1e-4)
        return
    length = max(order) + 1
    wide = torch.zeros(2, length, dtype=torch.long)
    wide[:, order] = rows
    missing = tuple(place for place in range(length) if place not in order)
    edits = [Cut(None, None, None, missing)] if missing else []
    expected = trace(model_, wide, edits=edits).output.values[:, order]
    torch.testing.assert_close(found, expected, rtol=0, atol=ROUNDING)
    relative = kind in ("rotary", "alibi", "relative")
    assert found.allclose(plain, atol=1e-4) == (how == "shifted" and relative)


@pytest.mark.parametrize("name", ["encoder–decoder", "translator"])
def test_positions_of_one_tower(name: str) -> None:
    source, target = given(name)
    plain = trace(network(name), source, target)
    for tower in ("encoder", "decoder"):
        found = trace(network(name), source, target, edits=[SetPositions("none", tower=tower)])
        assert not found.output.values.allclose(plain.output.values)
        same_encoder = found.weights(1, tower="encoder").equal(plain.weights(1, tower="encoder"))
        assert same_encoder == (tower == "decoder")
    both = trace(network(name), source, target, edits=[SetPositions("none")])
    order = source.flip(1)
    turned = trace(network(name), order, target, edits=[SetPositions("none")])
    torch.testing.assert_close(
        both.output.values, turned.output.values, rtol=0, atol=ROUNDING
    )  # the order of the source tells nothing


def test_positions_of_patches() -> None:
    """Patches with the places of others: the picture with its patches moved."""
    edit = SetPositions("shuffled", seed=2)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(2)).tolist()
    pixels = given("ViT")[0]
    moved = torch.zeros_like(pixels)
    for patch, place in enumerate(order):
        (r, c), (y, x) = divmod(patch, 3), divmod(place, 3)
        part = pixels[:, :, 2 * r : 2 * r + 2, 2 * c : 2 * c + 2]
        moved[:, :, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2] = part
    found = trace(network("ViT"), pixels, edits=[edit]).output.values
    expected = trace(network("ViT"), moved).output.values
    torch.testing.assert_close(found, expected, rtol=0, atol=ROUNDING)
    with pytest.raises(ValueError, match="expected positions 0 to 8, received 9"):
        trace(network("ViT"), pixels, edits=[SetPositions("shifted")])


@pytest.mark.parametrize("name", ["BERT", "GPT-2", "Llama"])
def test_shuffled_positions_hide_nothing(name: str) -> None:
    """Positions that fall are no beginning of another text: every key is seen as before."""
    rows = inputs(name)["input_ids"]
    found = trace(model(name), {"input_ids": rows}, edits=[SetPositions("shuffled", seed=3)])
    order = torch.randperm(11, generator=torch.Generator().manual_seed(3))
    given_ = {"attention_mask": torch.ones_like(rows), "position_ids": order.repeat(2, 1)}
    with torch.no_grad():
        expected = model(name)(rows, **given_)[0]
    assert (found.output.values - expected).abs().max() < 1e-4
    assert (found.weights(0) > 0).equal(trace(model(name), {"input_ids": rows}).weights(0) > 0)


@pytest.mark.parametrize("name", ["BERT", "GPT-2", "Llama", "GPT-NeoX"])
@pytest.mark.parametrize("how", ORDERS)
def test_positions_of_library_models(name: str, how: str) -> None:
    """The library's own forward with position_ids written by hand, beside padding."""
    edit, _ = ORDERS[how]
    given_ = padded(2, 11, 4, left=name == "Llama")
    found = trace(model(name), given_, edits=[edit])
    places = torch.arange(11).repeat(2, 1)
    for item, count in enumerate((11, 7)):
        own = given_["attention_mask"][item].nonzero().flatten()
        if how == "none":
            places[item, own] = int(own[0])
        elif how == "shifted":
            places[item, own] = own + 4
        else:
            order = torch.randperm(count, generator=torch.Generator().manual_seed(3))
            places[item, own] = own[order]
    with torch.no_grad():
        expected = model(name)(**given_, position_ids=places)[0]
    for item in range(2):
        own = given_["attention_mask"][item].bool()
        off = (found.output.values[item, own] - expected[item, own]).abs().max()
        assert off < 1e-4
    assert found.tokens == trace(model(name), given_).tokens


def test_refused_by_name() -> None:
    text = {"input_ids": torch.tensor([[5, 6, 7, 8]])}
    learned = DecoderConfig(**SIZES, vocab=31, positions="learned", max_tokens=9)
    none = EncoderConfig(**SIZES, vocab=31, positions="none")
    rows = given("encoder")[0]
    vit = given("ViT")[0]
    for net, source, edit, message in (
        (load(none), rows, SetPositions("none"), "this network has no positions"),
        (load(learned), rows, SetPositions("shifted", 3), "expected positions 0 to 8, received 9"),
        (
            load(learned),
            rows,
            SetPositions("shifted", -1),
            "expected positions from 0, received -1",
        ),
        (network("layer"), rows, SetPositions("none"), "this network has no positions"),
        (model("T5"), inputs("T5"), SetPositions("none"), "takes no position_ids for a text"),
        (model("BART"), inputs("BART"), SetPositions("none"), "takes no position_ids for a text"),
        (BY_NAME["RoBERTa"].build(), text, SetPositions("none"), "in a way of its own"),
        (model("ViT"), inputs("ViT"), SetPositions("none"), "takes no position_ids for a text"),
        (network("ViT"), vit, Drop(3), "reads pictures, which keep their grid"),
        (network("ViT"), vit, Cover(9), "patch: expected 0 to 8, received 9"),
        (network("encoder"), rows, Cover(1), "reads text: expected an edit of tokens"),
        (network("encoder"), rows, Drop(7), "token: expected 0 to 6, received 7"),
        (network("encoder"), rows, Drop(tuple(range(7))), "at least one token to be left"),
        (network("encoder"), rows, Drop(0, target=True), "is no encoder–decoder"),
        (model("BERT"), text, Drop((0, 1, 2, 3)), "at least one token to be left"),
        (model("BERT"), text, Drop(1, target=True), "reads no target here"),
        (model("BERT"), text, Cover(1), "reads no picture here"),
        (model("ViT"), inputs("ViT"), Drop(1), "reads no text here"),
        (network("encoder").network, rows, Swap(0, 9), "token: expected 0 to 6, received 9"),
    ):
        with pytest.raises(ValueError, match=message):
            trace(net, source, edits=[edit])
    with pytest.raises(ValueError, match="it changes the input, before the network runs"):
        network("encoder").network(rows, edits=[Swap(0, 1)])
    two = {"input_ids": rows, "attention_mask": torch.tensor([[1] * 7, [1] * 5 + [0] * 2])}
    with pytest.raises(ValueError, match="expected items of one length to shuffle"):
        trace(network("encoder"), two, edits=[SetPositions("shuffled")])


def test_text_and_sentences() -> None:
    edits = (
        Swap(1, 4),
        Drop((1, 2)),
        Drop(3, True),
        Cover((1, 5), "blur"),
        Cover(None),
        *(edit for edit, _ in ORDERS.values()),
    )
    assert parse_edits(format_edits(edits)) == edits
    assert [edit.describe() for edit in edits] == [
        "Input: tokens 1 and 4 change places.",
        "Input: tokens 1 and 2 are removed.",
        "Decoder's input: token 3 is removed.",
        "Input: patches 1 and 5 are blurred.",
        "Input: every patch is set to the mean colour of the picture.",
        "Input: every token has the position of the first.",
        "Input: positions are dealt to the tokens at random.",
        "Input: every token has a position 4 later.",
    ]


@pytest.mark.parametrize("how", ["mean", "blur"])
def test_the_picture_is_shown_as_the_network_reads_it(how: Literal["mean", "blur"]) -> None:
    """Normalising the covered picture gives what covering the normalised one gives."""
    levels = np.random.default_rng(0).integers(0, 256, (8, 12, 3), dtype=np.uint8)
    cover = Cover((1, 4), how=how)
    covered = np.array(edited_image(Image.fromarray(levels), [cover, Ablate(0, 0)], (2, 3)))
    mean, deviation = np.array([100.0, 120.0, 90.0]), np.array([50.0, 60.0, 70.0])
    pixels = torch.from_numpy((levels - mean) / deviation).movedim(-1, 0)[None]
    expected = cover.edit_pixels(pixels, (2, 3))[0].movedim(0, -1).numpy() * deviation + mean
    np.testing.assert_allclose(covered, expected, atol=0.5 + 1e-6)
    assert (covered[:4, :4] == levels[:4, :4]).all()
    assert not (covered[:4, 4:8] == levels[:4, 4:8]).all()
