"""What DINOv2's class token needs of a photo: some patches are hidden from it in every layer."""

from pathlib import Path
from typing import Any

from viz.lessons import real

MODEL = "dinov2"
PHOTO = "flower"
LAYER = 11
DRAWS = 5  # of as many random patches


@real.of(MODEL)
def needs() -> dict[str, Any]:
    """The class token's weights on the patches, and its last vector without a quarter of them."""
    import torch
    from PIL import Image

    from models.edits import Cut

    with Image.open(Path(__file__).parents[2] / "photos" / f"{PHOTO}.jpg") as opened:
        photo = opened.convert("RGB")
    plain = real.traced(MODEL, photo)
    weights = plain.weights(LAYER)[:, 0, 1:].mean(0)
    count, vector = len(weights), plain.output.values[0, 0]
    quarter, order = count // 4, weights.argsort(descending=True)
    dice = torch.Generator().manual_seed(0)

    def without(patches: torch.Tensor) -> list[float]:
        edit = Cut(None, None, 0, tuple((patches + 1).tolist()))
        changed = real.traced(MODEL, photo, edit).output.values[0, 0]
        similar = torch.cosine_similarity(vector, changed, dim=0)
        return [weights[patches].sum().item(), similar.item()]

    chance = [without(torch.randperm(count, generator=dice)[:quarter]) for _ in range(DRAWS)]
    side = round(count**0.5)
    return {
        "weights": weights.reshape(side, side).tolist(),
        "count": count,
        "quarter": quarter,
        "most": without(order[:quarter]),
        "least": without(order[-quarter:]),
        "random": chance,
    }
