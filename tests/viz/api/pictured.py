"""Pictures that networks have read, as the API holds them."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image
from torch import nn

from models.preprocessing import FILE
from models.run import load, trace
from tests.models.architectures import ARCHITECTURES
from viz.api.entries import TraceEntry

CLASSES = ("a cat", "<b>dog</b>", "fish", "bird", "cow")
SIZES: dict[str, Any] = {"hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2}
SIZES |= {"intermediate_size": 13, "image_size": 20, "patch_size": 4}
SIZES |= {"id2label": dict(enumerate(CLASSES))}
NETWORKS: dict[str, Any] = {
    "vit": lambda: transformers.ViTForImageClassification(transformers.ViTConfig(**SIZES)),
    "deit": lambda: transformers.DeiTForImageClassificationWithTeacher(
        transformers.DeiTConfig(**SIZES)
    ),
    "dinov2": lambda: transformers.Dinov2ForImageClassification(transformers.Dinov2Config(**SIZES)),
    "bare": lambda: transformers.ViTModel(transformers.ViTConfig(**SIZES)),
    "swin": next(each.build for each in ARCHITECTURES if each.name == "Swin"),
}


def networks_in(place: Path) -> dict[str, Path]:
    """Folders with small networks of random weights, by their names."""
    folders = {}
    for name, build in NETWORKS.items():
        torch.manual_seed(3)
        network = build().eval()
        for weights in network.parameters():
            nn.init.normal_(weights, std=0.3)
        folders[name] = place / name
        network.save_pretrained(folders[name])
        usual: dict[str, Any] = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
        side = network.config.image_size
        usual |= {"do_center_crop": False, "size": {"height": side, "width": side}}
        (folders[name] / FILE).write_text(json.dumps(usual))
    return folders


def entry_of(source: str | Path, picture: Path) -> TraceEntry:
    """The result for a picture."""
    opened, image = load(source), Image.open(picture).convert("RGB")
    given = (opened, image, None)
    return TraceEntry(trace(opened, image), opened=lambda: given, pictures=(image,), patches=True)
