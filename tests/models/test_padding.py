"""Padding is what the mask says: an item beside padding gives what it gives alone."""

from typing import Any

import pytest
import torch
import transformers

from models.decoder import DecoderConfig
from models.edits import Ablate, AblateMLP, Cut, SetWeights
from models.encoder import EncoderConfig
from models.layer import AttentionLayerConfig
from models.run import load, trace
from models.smallest import SmallestConfig
from models.vector_encoder import VectorEncoderConfig
from tests.models.architectures import BY_NAME, ids, normal, redraw

CLOSE = 1e-4  # of logits around 1, through a few layers in float32
TOKENS, PADDING = 7, 4
SIZES: dict[str, Any] = {"vocab": 50, "dim": 21, "depth": 2, "heads": 3, "mlp": 17}
EDITS = (Ablate(0, 0, "mean"), Cut(0, None, 6, 2), SetWeights(0, 0, 6, 5, 0.7))
NETWORKS: dict[str, Any] = {
    "decoder": DecoderConfig(**SIZES),
    "encoder": EncoderConfig(**SIZES),
    "smallest": SmallestConfig(vocab=50),
    "layer": AttentionLayerConfig(vocab=50, heads=4),
    "vectors": VectorEncoderConfig(dim=21, depth=2, heads=3, mlp=17),
}


@pytest.mark.parametrize("edits", [(), *((edit,) for edit in EDITS)], ids=repr)
@pytest.mark.parametrize("name", NETWORKS)
def test_padding_of_networks_of_ours(name: str, edits: tuple[Any, ...]) -> None:
    model, key = load(NETWORKS[name]), "inputs_embeds" if name == "vectors" else "input_ids"
    whole = normal(1, TOKENS + PADDING, 21) if name == "vectors" else ids(1, TOKENS + PADDING)
    alone = trace(model, whole[:, :TOKENS], edits=edits)
    for lengths in ((7,), (7, 7), (11, 7)):  # alone, beside another that is padded alike, or longer
        mask = torch.stack([torch.arange(TOKENS + PADDING) < each for each in lengths]).long()
        given = {key: whole.expand(len(mask), *whole.shape[1:]), "attention_mask": mask}
        item, padded = len(mask) - 1, trace(model, given, edits=edits)
        assert padded.empty_rows() == 0
        for found, expected in (
            (padded.output.of_item(item), alone.output.of_item(0)),
            (padded.output.row(-1, item), alone.output.row(-1)),
            (padded.weights(-1, item=item), alone.weights(-1)),
        ):
            torch.testing.assert_close(found, expected, atol=CLOSE, rtol=CLOSE)
    given = {key: whole, "attention_mask": mask[-1:]}
    with pytest.raises(ValueError, match="expected 0 to 6, received 8"):
        trace(model, given, edits=[Cut(0, None, 8, 2)])


@pytest.mark.parametrize("name", ["T5", "BART"])
def test_padding_of_a_target_is_none_of_a_source_as_long(name: str) -> None:
    model, edit = load(BY_NAME[name].build()), AblateMLP(0, "mean", tower="encoder")
    given = {"input_ids": ids(1, TOKENS), "decoder_input_ids": ids(1, TOKENS, seed=4)}
    mask = torch.tensor([[1] * (TOKENS - 2) + [0] * 2])
    found = trace(model, {**given, "decoder_attention_mask": mask}, hidden=True, edits=[edit])
    alone = trace(model, given, hidden=True, edits=[edit])
    torch.testing.assert_close(found.hidden(1, tower="encoder"), alone.hidden(1, tower="encoder"))


def test_padding_of_sound_is_in_no_mean_and_no_output() -> None:
    sizes: dict[str, Any] = {"conv_dim": (8, 8), "conv_stride": (5, 2), "conv_kernel": (10, 3)}
    sizes |= {"num_feat_extract_layers": 2, "feat_extract_norm": "layer", "hidden_size": 30}
    sizes |= {"num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 37}
    sizes |= {"num_conv_pos_embeddings": 3, "num_conv_pos_embedding_groups": 3}
    network = transformers.Wav2Vec2ForCTC(transformers.Wav2Vec2Config(**sizes)).eval()
    redraw(network)
    model, sound, mask = load(network), normal(2, 400), torch.ones(2, 400, dtype=torch.long)
    mask[1, 300:] = sound[1, 300:] = 0
    short = {"input_values": sound[1:, :300], "attention_mask": mask[1:, :300]}
    for edits in ((), (AblateMLP(0, "mean"),)):
        alone = trace(model, short, edits=edits).output.of_item(0)
        batch = trace(model, {"input_values": sound, "attention_mask": mask}, edits=edits)
        torch.testing.assert_close(batch.output.of_item(1), alone, atol=CLOSE, rtol=CLOSE)
