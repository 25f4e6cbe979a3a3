"""A vision-language model whose answer is known: it says "dog" if it sees a white patch.

One head attends, from the last token of the question, to white patches; every other token, to the
word "User". "dog" is written where white was read, "cat" otherwise, and then "sits", whatever the
picture shows. The weights are set by hand in a LLaVA of the library.
"""

from typing import Any

import torch
import transformers
from PIL import Image, ImageDraw

from tests.models.vision_language import BY_NAME, NAMES

PATCH, SIDE = 4, 5  # pixels, patches
ASKS, ALL, FIRST, WHITE, READ, SAID = range(6)  # what dimensions of the stream mean
SHARP = 40.0  # of the weights


def planted_folder(folder: Any) -> str:
    """A checkpoint folder of the model."""
    family = BY_NAME["LLaVA"]
    family.save(folder)
    planted().save_pretrained(folder)
    return str(folder)


@torch.no_grad()
def planted() -> Any:
    sizes = {**BY_NAME["LLaVA"].sizes}
    text = {**sizes["text_config"], "num_hidden_layers": 1, "num_key_value_heads": 6}
    text["rope_parameters"] = {"rope_type": "default", "rope_theta": 1e30}
    sizes["text_config"] = text
    network = transformers.LlavaForConditionalGeneration(transformers.LlavaConfig(**sizes)).eval()
    for name, parameter in network.named_parameters():
        parameter.fill_(1.0 if "norm" in name and name.endswith("weight") else 0.0)
    _plant_vision(network.model.vision_tower, network.model.multi_modal_projector)
    _plant_text(network)
    return network


def _plant_vision(tower: Any, projector: Any) -> None:
    """Features of a patch: its brightness, and 1."""
    embeddings = tower.embeddings
    embeddings.patch_embedding.weight[0] = 10 / (3 * PATCH**2)
    embeddings.position_embedding.weight[:, 1] = 20.0  # the norm keeps differences of brightness
    projector.linear_1.weight[WHITE, 0] = 1.0
    projector.linear_1.bias[WHITE] = -1.5
    projector.linear_2.weight[WHITE, WHITE] = 10.0
    projector.linear_2.bias[ALL] = 1.0


def _plant_text(network: Any) -> None:
    table = network.model.language_model.embed_tokens.weight
    table[:, ALL] = 1.0
    table[NAMES[":"], ASKS] = 1.0
    table[NAMES["User"], FIRST] = 5.0
    for said in ("dog", "cat"):
        table[NAMES[said], SAID] = 5.0
    attention = network.model.language_model.layers[0].self_attn
    # Of a head's 8 dimensions the slowest pair turns by nothing: 3 reads white, 2 the first word.
    attention.q_proj.weight[3, ASKS] = SHARP
    attention.k_proj.weight[3, WHITE] = 1.0
    attention.q_proj.weight[2, ALL], attention.q_proj.weight[2, ASKS] = SHARP, -SHARP
    attention.k_proj.weight[2, FIRST] = 1.0
    attention.v_proj.weight[0, WHITE] = 1.0
    attention.o_proj.weight[READ, 0] = 1.0
    head = network.lm_head.weight
    head[NAMES["dog"], READ] = 2.0
    head[NAMES["cat"], ASKS] = 1.0
    head[NAMES["sits"], SAID] = 4.0
    head[NAMES["sits"], READ] = -4.0


def scene(row: int, col: int) -> Image.Image:
    """A grey picture with one white patch."""
    image = Image.new("RGB", (PATCH * SIDE, PATCH * SIDE), (127, 127, 127))
    left, top = col * PATCH, row * PATCH
    ImageDraw.Draw(image).rectangle((left, top, left + PATCH - 1, top + PATCH - 1), fill="white")
    return image
