"""The picture of a pass: every number on a card, and the operation that it is said to come from."""

from typing import Any

import pytest
import torch
from torch import nn

from models.loading.load import load
from models.run import trace
from tests.models import tiny_models
from viz.build.numbers import number
from viz.build.picture import Picture
from viz.build.screen import on_screen, pooled

CHOSEN = (
    *("BERT", "BERT with a head", "ALBERT", "ModernBERT", "GPT-2", "GPT-NeoX", "Llama", "Gemma 2"),
    *("Mistral", "Phi", "Qwen3", "OLMo 2", "ViT", "DINOv2", "CLIP", "T5", "BART", "Whisper"),
    *("Swin", "DETR", "LLaVA", "encoder", "encoder, pre-norm", "encoder, alibi", "decoder"),
    *("decoder, grouped", "decoder, relative", "encoder–decoder", "vit", "layer"),
)
OPEN = ("BERT", "GPT-2", "Llama", "Qwen3", "ViT", "DINOv2", "T5", "encoder", "decoder", "vit")
OPENED = ("encoder–decoder", "layer", "encoder, pre-norm", "decoder, grouped")


def addresses(picture, address="", depth=0):
    """Every kind of card below one: of a stack the first block, of a layer the first two heads."""
    yield address
    if depth > 4:
        return
    for item in picture.card(address).items:
        for opens in (item.opens, *(each.opens for each in item.inner[:2])):
            if opens:
                yield from addresses(picture, opens, depth + 1)


def cells(picture, address):
    """The corners of every matrix of a card, and a cell inside."""
    for matrix in picture.card(address).matrices:
        high, wide = matrix.values.shape
        for row, col in {(0, 0), (high - 1, wide - 1), (high // 2, wide // 3)}:
            yield matrix, row, col, number(picture, address, matrix.name, row, col)


@pytest.mark.parametrize("name", CHOSEN)
def test_numbers_of_boxes_are_those_that_hooks_see(name):
    """Each box alone, by a hook of its own in one more pass."""
    t = tiny_models.plain(name)
    picture = Picture.of(t)
    network: Any = picture.network.root
    seen: dict[str, list[Any]] = {}
    boxes = {
        item.opens[2:]: item
        for address in addresses(picture)
        for item in picture.card(address).items
        if item.opens[:2] == "m:" and item.values is not None
    }
    handles = [
        network.get_submodule(path).register_forward_hook(
            lambda module, args, output, path=path: seen.setdefault(path, []).append(output)
        )
        for path in boxes
    ]
    t.origin.rerun()
    for handle in handles:
        handle.remove()
    for path, item in boxes.items():
        assert any(same(item.values, output) for output in seen[path]), path
        module = network.get_submodule(path)
        assert item.parameters == sum(each.numel() for each in module.parameters())


def same(values, output):
    while not isinstance(output, torch.Tensor):
        output = next(iter(output.values() if isinstance(output, dict) else output))
    theirs = (output[0] if output.ndim == 3 else output).detach()
    rounding = 1e-5 * max(1.0, float(theirs.abs().max()))
    return values.shape == theirs.shape and torch.allclose(values, theirs.float(), atol=rounding)


@pytest.mark.parametrize("name", CHOSEN)
def test_operations_give_the_numbers_of_the_network(name):
    """None that is shown gives another number; products sum to the cell; an input leads to the
    same number of the part that gave it."""
    picture = Picture.of(tiny_models.plain(name))
    told = led = 0
    for address in addresses(picture):
        for matrix, row, col, cell in cells(picture, address):
            assert "it does more here" not in cell.closed or name in ("DETR", "Whisper"), (
                address,
                cell,
            )
            value = float(matrix.values[row, col])
            if cell.opens:
                led += 1
                there, _, place = cell.opens.partition("/n:")
                given, *at = place.split(":")
                same_number = number(picture, there, given, *map(int, at)).value
                assert same_number == pytest.approx(value, rel=1e-4, abs=1e-6)
            if cell.closed:
                continue
            told += 1
            result = cell.steps[-1].value
            terms = [float(strip.values.abs().max()) for strip in cell.strips] or [1.0]
            assert value == pytest.approx(result, abs=1e-4 * max(abs(value), *terms))
            if len(cell.strips) == 3:
                one, other, products = (strip.values.double() for strip in cell.strips)
                assert torch.allclose(one * other, products, atol=1e-6)
                sums = [step.value for step in cell.steps]
                assert any(float(products.sum()) == pytest.approx(s, abs=1e-5) for s in sums)
    assert told > 3
    assert led > 0


@pytest.mark.parametrize("name", [*OPEN, *OPENED])
def test_nothing_is_left_unexplained(name):
    """In networks of these kinds every number but the input of a part has its operation."""
    picture = Picture.of(tiny_models.plain(name))
    for address in addresses(picture):
        card = picture.card(address)
        assert not any(item.kind == "unknown" for item in card.items), address
        for matrix, _, _, cell in cells(picture, address):
            ends = matrix.name == "input" or address.startswith("i:")
            reordered = address.startswith("p:") and "other rows" in cell.closed
            assert not cell.closed or ends or reordered, (address, cell)


@pytest.mark.parametrize(("head", "kinds"), [("mean", ["mean"]), ("flatten", [])])
def test_a_vit_without_registers_opens_whatever_its_head_reads(head, kinds):
    from models.vit import ViTConfig

    vit = ViTConfig(image=8, patch=4, dim=12, heads=2, depth=1, mlp=12, classes=3, head=head)
    picture = Picture.of(trace(load(vit), torch.randn(1, 3, 8, 8)))
    joints = [item for item in picture.card("").items if item.kind not in ("box", "layers")]
    assert [item.kind for item in joints] == kinds
    for joint in joints:
        for matrix, _, _, cell in cells(picture, joint.opens):
            assert bool(cell.closed) == (matrix.name != "result")


def test_a_residual_connection_is_told_from_a_gate_and_heads_stand_in_their_place():
    llama = Picture.of(tiny_models.plain("Llama"))
    (layers,) = (item for item in llama.card("").items if item.kind == "layers")
    block = llama.card(layers.inner[0].opens)
    assert [item.title for item in block.items] == [
        *("Norm", "Query", "Key", "Value", "6 heads", "Output projection", "+", "Norm"),
        *("Feed-forward", "+"),
    ]
    mlp = llama.card(block.items[-2].opens)
    assert [item.title for item in mlp.items] == ["Gate", "Activation", "Up", "×", "Down"]


def test_stacks_are_named_and_a_decoder_says_what_it_reads():
    from models.seq2seq import Seq2SeqConfig

    own = load(Seq2SeqConfig(source_vocab=11, target_vocab=11, dim=12, heads=2, depth=1, mlp=7))
    for given in (tiny_models.plain("T5"), trace(own, "a b", "c d")):
        stacks = [item for item in Picture.of(given).card("").items if item.kind == "layers"]
        assert [each.tower.partition(",")[0] for each in stacks] == ["encoder", "decoder"]
        assert [" cross-attention " in each.tower for each in stacks] == [False, True]


def test_an_embedding_that_stacks_share_has_a_box_in_each():
    from models.ssru import TranslatorConfig

    config = TranslatorConfig(vocab=11, dim=12, heads=2, depth=1, decoder_depth=1, mlp=7)
    own = trace(load(config), torch.tensor([[3, 4, 5]]), torch.tensor([[6, 7]]))
    picture = Picture.of(own)
    boxes = [i for i in picture.card("").items if i.title == "Token embedding"]
    assert [each.tower.partition(",")[0] for each in boxes] == ["encoder", "decoder"]
    table = own.origin.network.get_parameter("encoder.tokens.weight").detach()
    source, target = (picture.card(box.opens).matrices[-1].values for box in boxes)
    assert source.equal(table[[3, 4, 5]])
    assert target[1].equal(table[6])  # behind the vector that it begins with
    with pytest.raises(ValueError, match="runs 2 times"):
        picture.card(f"{boxes[0].opens}:2")


def test_logits_say_their_tokens_and_the_shares_that_they_get():
    from models.decoder import DecoderConfig

    own = trace(load(DecoderConfig(vocab=9, dim=12, heads=2)), torch.tensor([[3, 4, 5]]))
    picture = Picture.of(own)
    at = picture.card("").items[-1].opens
    logit = number(picture, at, "output", 2, 7, lambda id: f"word {id}")
    assert logit.title.endswith("token “word 7”")
    share = 100 * float(own.logits[0, 2].exp()[7] / own.logits[0, 2].exp().sum())
    assert logit.leads_to.endswith(f" {share:.2g} %")
    assert number(picture, at, "weight", 1, 7).title == "W: from feature 1 to token 7"
    assert number(picture, at, "input", 1, 7).title.endswith("feature 7")


def test_the_last_line_of_the_smallest_transformer_is_no_projection_of_heads():
    from models.smallest import SmallestConfig

    small = Picture.of(trace(load(SmallestConfig(dim=3)), torch.tensor([[1, 2, 3]])))
    card = small.card("m:out")
    assert (card.title, card.description[:21]) == ("Output", "Turns the last vector")


def test_only_a_norm_outside_of_the_blocks_is_the_final_one():
    whisper = Picture.of(tiny_models.plain("Whisper"))
    titles = {address: whisper.card(address).title for address in addresses(whisper)}
    norms = {address: title for address, title in titles.items() if "norm" in address}
    assert norms
    assert not any(title == "Final norm" for at, title in norms.items() if ".layers." in at)


class Twisted(nn.Module):
    """A part whose inside is its own code."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(12))

    def forward(self, x):
        return x.flip(-1) * self.weight


def test_what_cannot_be_told_is_a_closed_box_with_what_goes_in_and_out():
    model = load_small()
    model.network.blocks[0].feed_forward = Twisted()
    picture = Picture.of(trace(model, torch.tensor([[1, 2, 3]])))
    card = picture.card("m:blocks.0.feed_forward")
    assert card.closed
    assert [matrix.name for matrix in card.matrices] == ["input", "output"]
    assert number(picture, card.address, "output", 1, 2).closed


def test_a_head_that_is_switched_off_says_so():
    from models.edits import Ablate

    picture = Picture.of(trace(load_small(), torch.tensor([[1, 2, 3]]), edits=[Ablate(0, 1)]))
    assert "edit" in picture.card("h:0:1").closed
    assert not picture.card("h:0:1").matrices[5].values.any()
    assert not picture.card("h:0:0").closed


def test_heads_have_the_parameters_of_their_layer_and_what_they_write_needs_a_matrix():
    from models.smallest import SmallestConfig

    small = Picture.of(trace(load_small(), torch.tensor([[1, 2, 3]])))
    of_heads = sum(small.card(f"h:0:{head}").parameters for head in range(2))
    assert of_heads + 12 == small.card("m:blocks.0.attention").parameters  # and the bias of W_O
    assert small.card("h:0:0").matrices[-1].name == "written"
    bare = Picture.of(trace(load(SmallestConfig(dim=3)), torch.tensor([[1, 2, 3]])))
    assert bare.card("h:0:0").parameters == bare.card("m:attention").parameters == 27
    assert bare.card("h:0:0").matrices[-1].name == "output"


def load_small():
    from models.encoder import EncoderConfig

    return load(EncoderConfig(vocab=9, dim=12, heads=2, mlp=12, depth=2))


@pytest.mark.parametrize(
    "address", ["m:nowhere", "h:0:99", "h:99:0", "x", "i::99", "p:tokens:0:0", "p:positions:1:0"]
)
def test_what_is_not_there_is_one_line(address):
    picture = Picture.of(trace(load_small(), torch.tensor([[1, 2, 3]])))
    with pytest.raises(ValueError, match=r"^.+$") as error:
        picture.card(address)
    assert "\n" not in str(error.value)


def test_a_large_matrix_is_pooled_to_what_is_farthest_from_zero():
    values = torch.zeros(500, 700)
    values[499, 0], values[3, 699] = -4, 2
    small = pooled(values, (48, 96))
    shown = small["at"].reshape(small["shape"])
    assert (shown[-1, 0], shown[0, -1]) == (-4, 2)
    assert small["of"] == [500, 700]
    assert "places" not in small
    places = pooled(values, (48, 96), places=True)["places"].reshape(small["shape"])
    assert (places[-1, 0], places[0, -1]) == (499 * 700, 3 * 700 + 699)
    assert (values.flatten()[torch.tensor(places).long()].numpy() == shown).all()
    assert "places" not in pooled(values[:9, :9], (48, 96), places=True)
    masked = pooled(torch.full((3, 4), -torch.inf), (48, 96))
    assert not torch.isfinite(torch.tensor(masked["at"])).any()


def test_a_card_of_512_tokens_is_small():
    from models.decoder import DecoderConfig
    from viz.pack import message

    model = load(DecoderConfig(vocab=99, dim=64, heads=8, depth=2, max_tokens=512))
    picture = Picture.of(trace(model, torch.arange(512)[None] % 99))
    for address in addresses(picture):
        assert len(message(on_screen(picture.card(address), picture))) < 400_000
