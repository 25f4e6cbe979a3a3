"""ViTs of odd shapes, opened from a folder, against transformers; and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor
from transformers import ViTConfig, ViTForImageClassification, ViTForMaskedImageModeling, ViTModel
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from models.run import CheckpointError, Model, load, trace
from tests.models.loading.convert.test_bert import redrawn, rewritten

LAYERS, HEADS, LABELS = 3, 5, 7
ROUNDING = 1e-5  # of the widest number: weights redrawn this wide make scores of up to 50

SHAPE: dict[str, Any] = {
    "hidden_size": 35,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 53,
    "image_size": 33,
    "patch_size": 11,
    "num_labels": LABELS,
    "attn_implementation": "eager",  # the one that gives its weights
}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"qkv_bias": False, "hidden_act": "relu", "layer_norm_eps": 1e-5},
    {"num_channels": 1, "hidden_act": "gelu_new", "layer_norm_eps": 0.1},
    {"num_attention_heads": 7, "hidden_act": "gelu_pytorch_tanh", "num_hidden_layers": 1},
    {"image_size": [22, 55]},
    {"patch_size": [11, 3]},
]


def vit(head: Any = ViTForImageClassification, **changes: Any) -> Any:
    return redrawn(head(ViTConfig(**SHAPE | changes)))


def pixels_of(rows: int, cols: int, channels: int = 3) -> Tensor:
    return torch.randn(2, channels, rows, cols, generator=torch.Generator().manual_seed(41))


def agree(model: Model, theirs: Any, pixels: Tensor, *, resample: bool = False) -> None:
    """Logits or hidden states, every head, every state between blocks."""
    with torch.no_grad():
        expected = theirs(
            pixels,
            interpolate_pos_encoding=resample,
            output_attentions=True,
            output_hidden_states=True,
        )
    found = trace(model, pixels, hidden=True)
    if isinstance(theirs, ViTForImageClassification):
        assert found.output.name == "logits"
        answer = expected.logits
    else:
        assert found.output.name == "hidden states"
        answer = expected.last_hidden_state
    assert (found.output.values - answer).abs().max() < ROUNDING * answer.abs().max()
    for layer, attention in enumerate(expected.attentions):
        for item in range(2):
            assert (found.weights(layer, item=item) - attention[item]).abs().max() < ROUNDING
        apart = (attention[:, :, None] - attention[:, None]).abs().amax((0, 3, 4))
        assert (apart + torch.eye(len(apart))).min() > 0.01  # heads differ: none can be swapped
    for layer in range(len(expected.attentions)):
        off = (found.hidden(layer) - expected.hidden_states[layer][0]).abs().max()
        assert off < ROUNDING * expected.hidden_states[layer].abs().max()


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_odd_shapes(changes: dict, tmp_path: Path) -> None:
    theirs = vit(**changes)
    theirs.save_pretrained(tmp_path)
    model = load(tmp_path)
    assert model.trained
    assert not model.network.training
    assert model.left_out == ()
    size = theirs.config.image_size
    rows, cols = (size, size) if isinstance(size, int) else size
    agree(model, theirs, pixels_of(rows, cols, theirs.config.num_channels))


@pytest.mark.parametrize(("rows", "cols"), [(44, 44), (22, 66), (55, 11), (99, 11)])
def test_another_size(rows: int, cols: int, tmp_path: Path) -> None:
    theirs = vit()
    theirs.save_pretrained(tmp_path)
    model = load(tmp_path)
    agree(model, theirs, pixels_of(rows, cols), resample=True)
    grid = rows // 11, cols // 11
    found = trace(model, pixels_of(rows, cols))
    assert found.grid == grid
    said = f"positions interpolated: from 3 × 3 to {grid[0]} × {grid[1]} patches"
    assert found.notes == (said,)


def test_without_a_classifier(tmp_path: Path) -> None:
    theirs = vit(ViTModel)
    theirs.save_pretrained(tmp_path)
    model = load(tmp_path)
    assert {name.partition(".")[0] for name in model.left_out} == {"pooler"}
    agree(model, theirs, pixels_of(33, 33))


def test_masked_image_modelling(tmp_path: Path) -> None:
    theirs = vit(ViTForMaskedImageModeling)
    theirs.save_pretrained(tmp_path)
    model = load(tmp_path, door="own")
    assert len(model.left_out) == 3
    agree(model, theirs.vit, pixels_of(33, 33))
    assert load(tmp_path).left_out == ()


def test_new_names_of_the_parts(tmp_path: Path) -> None:
    """As the network itself calls them, which is not how it saves them."""
    theirs = vit()
    theirs.save_pretrained(tmp_path)
    save_file(theirs.state_dict(), tmp_path / "model.safetensors")
    agree(load(tmp_path), theirs, pixels_of(33, 33))


# --- how it wants its images ------------------------------------------------------------------


def photo() -> Image.Image:
    levels = torch.randint(256, (45, 70, 3), generator=torch.Generator().manual_seed(43))
    return Image.frombytes("RGB", (70, 45), bytes(levels.flatten().tolist()))


def test_images_are_prepared_as_the_folder_says(saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "vit")
    mean, std = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]
    size = {"height": 44, "width": 55}
    processor = ViTImageProcessorPil(size=size, image_mean=mean, image_std=std)
    processor.save_pretrained(folder)
    model = load(folder)
    found = trace(model, photo())
    prepared = processor(photo(), return_tensors="pt")["pixel_values"]
    expected = trace(model, prepared)
    assert found.grid == (4, 5)
    assert found.notes[0] == "stretched from 70 × 45 pixels to 55 × 44"
    off = (found.output.values - expected.output.values).abs().max()
    assert off < ROUNDING * expected.output.values.abs().max()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("{", "preprocessor_config.json is broken"),
        ("[]", "preprocessor_config.json: expected an object"),
        ('{"image_mean": [1, 2]}', "image_mean: expected three numbers"),
        ('{"image_std": [1, 0, 1]}', "image_std: expected numbers above 0"),
    ],
)
def test_a_look_that_is_not_known(settings: str, message: str, saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "vit")
    (folder / "preprocessor_config.json").write_text(settings, encoding="utf-8")
    with pytest.raises(CheckpointError, match=message):
        load(folder, door="own")


# --- refusals ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vit")
    vit().save_pretrained(path)
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "swim"}, "there is no converter for model_type 'swim'"),
        ({"hidden_size": None}, "hidden_size: expected a whole number from 1, received None"),
        ({"hidden_act": "quick_gelu"}, "hidden_act: expected one of .*, received 'quick_gelu'"),
        ({"layer_scale": 1}, r"settings this converter does not know: \['layer_scale'\]"),
        ({"image_size": [1, 2, 3]}, "image_size: expected a whole number or two"),
        ({"patch_size": "16"}, "patch_size: expected a whole number or two"),
        ({"qkv_bias": "yes"}, "qkv_bias: expected true or false, received 'yes'"),
        ({"layer_norm_eps": "small"}, "layer_norm_eps: expected a number"),
        ({"num_hidden_layers": 4}, "the checkpoint lacks layers.3"),
        ({"num_hidden_layers": 2}, "no place in a ViT"),
        ({"intermediate_size": 54}, "feed_forward.up.weight: expected"),
        ({"image_size": 44}, "positions.table: expected .17, 35., received .10, 35."),
        ({"num_attention_heads": 4}, "heads must divide dim"),
        ({"is_decoder": True}, "is_decoder: expected False, received True"),
    ],
)
def test_settings_that_are_refused(
    changes: dict, message: str, saved: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(saved, tmp_path / "vit")
    file = folder / "config.json"
    settings = json.loads(file.read_text(encoding="utf-8")) | changes
    file.write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(CheckpointError, match=message):
        load(folder, door="own")


def test_weights_that_are_refused(saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "vit")
    rewritten(folder, lambda state: state | {"vit.gate": torch.zeros(3)})
    with pytest.raises(CheckpointError, match=r"no place in a ViT: \['vit.gate'\]"):
        load(folder)
    lost = "vit.embeddings.cls_token"
    rewritten(folder, lambda state: {n: t for n, t in state.items() if n not in (lost, "vit.gate")})
    with pytest.raises(CheckpointError, match=r"lacks embeddings\.cls_token"):
        load(folder)
