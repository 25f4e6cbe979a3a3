"""Faithfulness curves of a planted cause, and of passes written out."""

from typing import Any

import pytest
import torch
from PIL import Image
from scipy.ndimage import gaussian_filter

from analysis.faithfulness import blur, faithfulness, perturbation
from models.decoder import DecoderConfig
from models.run import load, trace
from models.vit import ViTConfig
from tests.models import tiny_models
from tests.models.architectures import BY_NAME
from tests.models.tensors import noise

CAUSE, PLACE, EFFECT, VOCAB = 7, 2, 3, 31
IDS = torch.tensor([[4, 11, CAUSE, 9, 4, 12, 5, 8]])


@pytest.fixture(scope="module")
def planted():
    """A decoder that writes `EFFECT` if `CAUSE` was anywhere in its text, and else anything."""
    model = load(
        DecoderConfig(vocab=VOCAB, dim=10, heads=2, depth=1, mlp=3, norm="pre", tied=False)
    )
    direction = torch.tensor([1.0, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, -1.5])
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.zero_()
        for module in model.network.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(1.0)
        block: Any = model.network.blocks[0]
        block.attention.value.weight.copy_(torch.eye(10))
        block.attention.out.weight.copy_(torch.eye(10))
        model.network.embedding.tokens.weight[CAUSE] = direction
        model.network.embedding.positions = torch.nn.Identity()
        model.network.output.weight[EFFECT] = direction
    return model


@pytest.mark.parametrize("place", [7, 4])
def test_curves_are_passes_without_tokens(planted, place):
    relevance = torch.tensor([0.1, 0.9, 0.3, 0.8, 0.2, 0.7, 0.0, 0.6])
    target = (place, EFFECT)
    found = faithfulness(planted, IDS, relevance, target=target, levels=(0.25, 0.5), orders=1)
    order = [each for each in (1, 3, 5, 7, 2, 4, 0, 6) if each != place]  # which is read: it stays
    assert found.counts.tolist() == [2, 4]
    for level, count in enumerate((2, 4)):
        for curve, gone in (
            (found.comprehensiveness, order[:count]),
            (found.sufficiency, order[count:]),
        ):
            kept = [each for each in range(8) if each not in gone]
            logits = trace(planted, IDS[:, kept]).output.values[0, kept.index(place)]
            expected = found.value - float(torch.softmax(logits, -1)[EFFECT])
            assert float(curve[level]) == pytest.approx(expected, abs=1e-6)


def test_patches_are_painted_grey():
    model = load(ViTConfig(image=(8, 12), patch=4, dim=20, heads=2, depth=1, mlp=13, classes=5))
    pixels = torch.randn(1, 3, 9, 15, generator=torch.Generator().manual_seed(1))  # 8 × 12 are read
    relevance = torch.tensor([9.0, 0.1, 0.2, 0.3, 0.4, 0.9, 0.5])  # class token, 2 × 3 patches
    found = faithfulness(model, pixels, relevance, target=2, levels=(0.17,), orders=1)
    named = {"pixel_values": pixels}
    again = faithfulness(model, named, relevance, target=2, levels=(0.17,), orders=1)
    assert torch.equal(again.comprehensiveness, found.comprehensiveness)
    grey = pixels.clone()
    grey[0, :, 4:8, 4:8] = 0
    expected = found.value - float(torch.softmax(trace(model, grey).output.values[0], -1)[2])
    assert found.counts.tolist() == [1]
    assert float(found.comprehensiveness[0]) == pytest.approx(expected, abs=1e-6)
    whole = faithfulness(model, Image.new("RGB", (12, 8)), relevance, orders=1)
    assert whole.removal == "grey"


@pytest.mark.parametrize("name", ["T5", "BART"])
def test_encoder_decoders_of_the_library(name):
    network = BY_NAME[name].build()
    model = load(network)
    source, target = torch.tensor([[5, 9, 4, 11, 7]]), torch.tensor([[6, 3, 8, 5]])
    relevance = torch.tensor([0.1, 0.9, 0.2, 0.8, 0.3])
    found = faithfulness(
        model, source, relevance, target=(1, 4), written=target, levels=(0.4,), orders=1
    )
    whole = trace(model, source, target)
    assert whole.target_tokens is not None
    read = torch.tensor([whole.target_tokens[0].ids])
    with torch.no_grad():
        logits = network(source[:, [0, 2, 4]], decoder_input_ids=read).logits[0, 1]
    expected = found.value - float(torch.softmax(logits, -1)[4])
    assert float(found.comprehensiveness[0]) == pytest.approx(expected, abs=1e-5)


def test_moments_of_a_recording_are_not_removed():
    t: Any = tiny_models.plain("Whisper")
    given = dict(t.origin.inputs.arguments)
    with pytest.raises(ValueError, match="expected a model that reads text or pictures"):
        faithfulness(tiny_models.model("Whisper"), given, torch.zeros(len(t.tokens[0])))


def test_pairs_keep_their_segments():
    """A second text stays the second when words of it are masked."""
    model: Any = load("minilm")
    pair, target = ("A cat sat", "on a mat"), "A kitten"
    tokens = model.tokenizer.encode(*pair)
    relevance = torch.zeros(len(tokens))
    relevance[6] = 1.0
    found = faithfulness(model, pair, relevance, target=target, levels=(0.1,), orders=1)
    ids = list(tokens.ids)
    ids[6] = model.tokenizer.encode("[MASK]").ids[1]
    inputs = {
        "input_ids": torch.tensor([ids]),
        "token_type_ids": torch.tensor([tokens.segments]),
    }
    embedded = [trace(model, given).output.values[0].mean(0) for given in (inputs, target)]
    expected = found.value - float(torch.cosine_similarity(*embedded, dim=0))
    assert float(found.comprehensiveness[0]) == pytest.approx(expected, abs=1e-5)


# --- pictures, patch by patch -------------------------------------------------------------------

CONFIG = ViTConfig(image=(8, 12), patch=4, dim=20, heads=2, depth=1, mlp=13, classes=5)


def test_deletion_is_the_value_less_comprehensiveness() -> None:
    model, pixels, relevance = load(CONFIG), noise(1, 3, 8, 12), noise(7, seed=2)
    found = perturbation(
        model, pixels, relevance, "deletion", target=2, levels=(0.0, 1 / 3, 2 / 3, 1.0)
    )
    other = faithfulness(model, pixels, relevance, target=2, levels=(1 / 3, 2 / 3, 1.0))
    assert found.counts.tolist() == [0, 2, 4, 6]
    assert float(found.most[0]) == pytest.approx(found.value, abs=1e-6)
    torch.testing.assert_close(found.most[1:], found.value - other.comprehensiveness)
    torch.testing.assert_close(found.least[1:3].flip(0), found.value - other.sufficiency[:2])
    areas = [(each[:-1] + each[1:]).mean() / 2 for each in (found.most, found.least)]
    score = float(areas[1] - areas[0]) / 2  # an even axis
    assert found.score == pytest.approx(score, abs=1e-7)


def test_insertion_starts_blurred_and_ends_whole() -> None:
    model, pixels, relevance = load(CONFIG), noise(1, 3, 8, 12), torch.arange(7.0)
    found = perturbation(model, pixels, relevance, "insertion", target=1, levels=(0.0, 0.17, 1.0))
    mixed = blur(pixels)
    mixed[..., 4:, 8:] = pixels[..., 4:, 8:]  # the last patch
    for place, given in enumerate((blur(pixels), mixed, pixels)):
        expected = torch.softmax(trace(model, given).output.values[0], -1)[1]
        assert float(found.most[place]) == pytest.approx(float(expected), abs=1e-6)


def test_the_blur_is_a_gaussian_of_eleven_pixels() -> None:
    pixels = noise(1, 2, 13, 12)
    across = {"sigma": (0, 5, 5), "radius": (0, 5, 5), "mode": "mirror"}
    expected = torch.from_numpy(gaussian_filter(pixels[0].numpy(), **across))
    torch.testing.assert_close(blur(pixels)[0], expected)
