"""Image preprocessing that is usual in a family, for checkpoints that state none.

Of the families' first published checkpoints. The size is that of the checkpoint's own config.
"""

from collections.abc import Iterable
from typing import NamedTuple

Three = tuple[float, float, float]
IMAGENET: tuple[Three, Three] = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLIP: tuple[Three, Three] = (
    (0.48145466, 0.4578275, 0.40821073),
    (0.26862954, 0.26130258, 0.27577711),
)
HALF: tuple[Three, Three] = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
BILINEAR, BICUBIC = 2, 3


class Usual(NamedTuple):
    """The usual preprocessing of a family.

    Attributes:
        title: of the family.
        mean: per channel.
        std: per channel.
        edge: shortest edge before the middle is cropped, as a multiple of the size; 0 where the
            image is stretched to its size.
        square: whether both edges become that long.
        resample: Pillow's filter.
    """

    title: str
    mean: Three
    std: Three
    edge: float = 0.0
    resample: int = BICUBIC
    square: bool = False


USUAL = {  # by model type
    "beit": Usual("BEiT", *HALF),
    "blip": Usual("BLIP", *CLIP),
    "clip": Usual("CLIP", *CLIP, edge=1),
    "data2vec-vision": Usual("Data2Vec", *HALF),
    "deit": Usual("DeiT", *IMAGENET, edge=256 / 224, square=True),
    "dinov2": Usual("DINOv2", *IMAGENET, edge=256 / 224),
    "dinov2_with_registers": Usual("DINOv2", *IMAGENET, edge=256 / 224),
    "dinov3_vit": Usual("DINOv3", *IMAGENET, resample=BILINEAR),
    "siglip": Usual("SigLIP", *HALF),
    "swin": Usual("Swin", *IMAGENET),
    "swinv2": Usual("Swin", *IMAGENET),
    "vit": Usual("ViT", *HALF, resample=BILINEAR),
    "vit_mae": Usual("ViTMAE", *IMAGENET),
    "vit_msn": Usual("ViT-MSN", *IMAGENET),
    "yolos": Usual("YOLOS", *IMAGENET, resample=BILINEAR),
}
PART = "_vision_model"  # model types of vision towers alone end with it


def usual(families: Iterable[str]) -> Usual | None:
    """The usual preprocessing of the first family that has one."""
    defaults = (USUAL.get(family.removesuffix(PART)) for family in families)
    return next((each for each in defaults if each is not None), None)
