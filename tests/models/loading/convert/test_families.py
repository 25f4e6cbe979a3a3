"""BERT, Llama, ViT and DINOv2 in our networks, against transformers; and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from models.run import CheckpointError, load, trace
from models.verify import verify

TOKENS, LAYERS = 17, 3
ROUNDING = 1e-5  # of the largest number; weights this wide make scores of up to 50
STACK = {"hidden_size": 35, "num_hidden_layers": LAYERS, "num_attention_heads": 5}
BERT = {**STACK, "vocab_size": 101, "intermediate_size": 53, "max_position_embeddings": 37}
VIT = {**STACK, "intermediate_size": 53, "image_size": 33, "patch_size": 11, "num_labels": 7}
DINOV2 = {**STACK, "mlp_ratio": 2, "image_size": 25, "patch_size": 5}
LLAMA = {**BERT, "hidden_size": 30, "num_attention_heads": 6, "num_key_value_heads": 2}
LLAMA |= {"head_dim": 10, "rms_norm_eps": 1e-5, "tie_word_embeddings": False}
LLAMA |= {"rope_parameters": {"rope_type": "default", "rope_theta": 777.0}}
SIZES: dict[str, dict[str, Any]] = {"Bert": BERT, "Llama": LLAMA, "ViT": VIT, "Dinov2": DINOV2}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "BERT": ("BertModel", BERT),
    "one segment": (
        "BertModel",
        {**BERT, "type_vocab_size": 1, "hidden_act": "relu", "layer_norm_eps": 1e-5},
    ),
    "three segments": (
        "BertModel",
        {**BERT, "type_vocab_size": 3, "hidden_act": "gelu_new", "layer_norm_eps": 0.1},
    ),
    "Llama": ("LlamaForCausalLM", LLAMA),
    "tied": ("LlamaForCausalLM", {**LLAMA, "tie_word_embeddings": True}),
    "ViT": ("ViTForImageClassification", VIT),
    "no classifier": ("ViTModel", {**VIT, "image_size": [22, 55], "num_attention_heads": 7}),
    "no biases": (
        "ViTForImageClassification",
        {**VIT, "qkv_bias": False, "hidden_act": "gelu_pytorch_tanh", "num_channels": 1},
    ),
    "oblong patches": ("ViTModel", {**VIT, "image_size": [23, 53], "patch_size": [11, 3]}),
    "DINOv2": ("Dinov2Model", DINOV2),
}


def built(kind: str, **changes: Any) -> Any:
    """A network of the library with weights wide enough that every head differs from others."""
    network = getattr(transformers, kind)
    sizes = next(sizes for start, sizes in SIZES.items() if kind.startswith(start))
    made = network(network.config_class(**{**sizes, "attn_implementation": "eager", **changes}))
    dice = torch.Generator().manual_seed(31)
    for name, parameter in made.named_parameters():
        near_one = parameter.ndim == 1 and ("norm" in name.lower() or "scale" in name)
        parameter.data = near_one + 0.3 * torch.randn(parameter.shape, generator=dice)
    return made.eval()


def pixels_of(rows: int, cols: int, channels: int = 3) -> Tensor:
    return torch.randn(2, channels, rows, cols, generator=torch.Generator().manual_seed(41))


def ids(vocab: int = 101) -> Tensor:
    return torch.randint(vocab, (2, TOKENS), generator=torch.Generator().manual_seed(37))


def inputs(network: Any) -> tuple[tuple[Tensor, ...], dict[str, Any], dict[str, Any]]:
    """An input of two items by place, what ours takes by name, and what the library does."""
    config = network.config
    if hasattr(config, "image_size"):
        size = config.image_size
        rows, cols = (size, size) if isinstance(size, int) else size
        return (pixels_of(rows, cols, config.num_channels),), {}, {}
    if config.model_type == "llama":
        return (ids(),), {}, {}
    segments = torch.arange(TOKENS).expand(2, TOKENS) % config.type_vocab_size
    padding = torch.zeros(2, TOKENS, dtype=torch.bool)
    padding[1, 13:] = True
    theirs = {"attention_mask": (~padding).long(), "token_type_ids": segments}
    return (ids(),), {"padding": padding, "segments": segments}, theirs


@torch.no_grad()
def agree(path: Path, theirs: Any) -> None:
    """Every head, every state between blocks and the output are the library's."""
    network: Any = load(path, door="own").network
    assert not network.training
    given, by_name, names = inputs(theirs)
    found = network(*given, **by_name)
    expected = theirs(*given, **names, output_attentions=True, output_hidden_states=True)
    real = ~by_name["padding"] if by_name else torch.ones(2, found.states[0].shape[1]).bool()
    for pattern, attention in zip(found.patterns, expected.attentions, strict=True):
        assert (pattern.weights() - attention).abs().amax((1, 3))[real].max() < ROUNDING
        apart = (attention[:, :, None] - attention[:, None]).abs().amax((0, 3, 4))
        assert (apart + torch.eye(len(apart))).min() > 0.01  # heads differ: none can be swapped
    for state, other in zip(found.states[:LAYERS], expected.hidden_states[:LAYERS], strict=True):
        assert (state - other)[real].abs().max() < ROUNDING * other.abs().max()
    name, values = found.result
    answer = expected.logits if name == "logits" else expected.last_hidden_state
    off = (values - answer).abs()
    assert (off[real] if by_name else off).max() < ROUNDING * answer.abs().max()


@pytest.mark.parametrize("name", CASES)
def test_every_map_state_and_output(name: str, tmp_path: Path) -> None:
    kind, changes = CASES[name]
    theirs = built(kind, **changes)
    theirs.save_pretrained(tmp_path)
    agree(tmp_path, theirs)


@pytest.mark.parametrize("name", ["Llama", "DINOv2"])
def test_what_an_analysis_reads_is_what_it_reads_of_the_library(name: str, tmp_path: Path) -> None:
    theirs = built(CASES[name][0])
    theirs.save_pretrained(tmp_path)
    given = inputs(theirs)[0][0][:1]
    own = load(tmp_path, door="own")
    assert load(tmp_path).door == "transformers"  # unless it is asked for
    found, expected = trace(own, given), trace(load(tmp_path), given)
    mine, other = (t.origin.projections(t.sites[1]) for t in (found, expected) if t.origin)
    for kind in ("query", "key", "value"):
        assert torch.equal(getattr(mine, kind), getattr(other, kind))
    stream = found.stream(found.sites[2], range(3))
    summed = torch.stack(list(stream.parts().values())).sum(0)
    assert torch.allclose(summed.float(), stream.state, atol=1e-4)
    assert verify(own, given).difference < 1e-4


@pytest.mark.parametrize(("rows", "cols"), [(44, 44), (99, 11)])
def test_another_size_of_pictures(rows: int, cols: int, tmp_path: Path) -> None:
    theirs, pixels = built("ViTForImageClassification"), pixels_of(rows, cols)
    theirs.save_pretrained(tmp_path)
    found = trace(load(tmp_path), pixels)
    with torch.no_grad():
        expected = theirs(pixels, interpolate_pos_encoding=True).logits
    assert (found.output.values - expected).abs().max() < ROUNDING * expected.abs().max()
    said = f"positions interpolated: from 3 × 3 to {rows // 11} × {cols // 11} patches"
    assert (found.grid, found.notes) == ((rows // 11, cols // 11), (said,))


def test_images_are_prepared_as_the_folder_says(tmp_path: Path) -> None:
    built("ViTForImageClassification").save_pretrained(tmp_path)
    mean, std, size = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], {"height": 44, "width": 55}
    processor = ViTImageProcessorPil(size=size, image_mean=mean, image_std=std)
    processor.save_pretrained(tmp_path)
    photo = Image.effect_noise((70, 45), 60).convert("RGB")
    found = trace(load(tmp_path), photo)
    expected = trace(load(tmp_path), processor(photo, return_tensors="pt")["pixel_values"])
    assert found.notes[0] == "stretched from 70 × 45 pixels to 55 × 44"
    torch.testing.assert_close(found.output.values, expected.output.values)
    (tmp_path / "preprocessor_config.json").write_text('{"image_mean": [1, 2]}')
    with pytest.raises(CheckpointError, match="image_mean: expected three numbers"):
        load(tmp_path, door="own")


# --- names of weights, and heads on top -----------------------------------------------------------


def rewritten(path: Path, change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> None:
    """The weights of a folder, changed."""
    file = path / "model.safetensors"
    save_file(change({name: each.clone() for name, each in load_file(file).items()}), file)


def old(name: str) -> str:
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("Norm.bias", "Norm.beta")


def test_other_names_and_half_precision(tmp_path: Path) -> None:
    """The first BERTs' names of LayerNorm; a ViT as the network itself calls its parts."""
    theirs = built("BertModel").half()
    theirs.save_pretrained(tmp_path / "bert")
    rewritten(tmp_path / "bert", lambda state: {old(name): each for name, each in state.items()})
    agree(tmp_path / "bert", theirs.float())
    theirs = built("ViTForImageClassification")
    theirs.save_pretrained(tmp_path / "vit")
    save_file(theirs.state_dict(), tmp_path / "vit" / "model.safetensors")
    agree(tmp_path / "vit", theirs)


@pytest.mark.parametrize("same", [False, True])
def test_a_tie_of_weights_that_differ_is_none(same: bool, tmp_path: Path) -> None:
    """The config ties them, and the file has both: the library ties those that are equal."""
    built("LlamaForCausalLM", tie_word_embeddings=True).save_pretrained(tmp_path)
    embedding = load_file(tmp_path / "model.safetensors")["model.embed_tokens.weight"]
    head = embedding.clone() if same else embedding.flip(0)
    rewritten(tmp_path, lambda state: {**state, "lm_head.weight": head})
    theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path, attn_implementation="eager")
    assert (theirs.lm_head.weight is theirs.model.embed_tokens.weight) == same
    agree(tmp_path, theirs)
    assert load(tmp_path, door="own").network.config.tied == same


HEADS = (
    *("BertForMaskedLM", "BertForPreTraining", "BertForSequenceClassification"),
    *("BertForTokenClassification", "BertForQuestionAnswering", "BertForNextSentencePrediction"),
    "ViTForMaskedImageModeling",
)


@pytest.mark.parametrize("head", HEADS)
def test_a_checkpoint_keeps_its_head(head: str, tmp_path: Path) -> None:
    """Its output is that of the class it was saved from, and a line says who runs it, and why."""
    theirs = built(head)
    theirs.save_pretrained(tmp_path)
    model, given = load(tmp_path), inputs(theirs)[0]
    assert (model.left_out, model.door) == ((), "transformers")
    assert model.door_reason.startswith("Headscope’s own network has no place for ")
    if head.startswith("Bert"):
        with torch.no_grad():
            expected = theirs(*given)[0]
        assert torch.allclose(trace(model, *given).output.values, expected, atol=ROUNDING)
    agree(tmp_path, getattr(theirs, theirs.base_model_prefix))
    assert load(tmp_path, door="own").left_out


def test_a_head_that_the_config_does_not_name_is_left_out(tmp_path: Path) -> None:
    """The files of the first BERTs hold the weights of both tasks, and the config names one."""
    built("BertForPreTraining").save_pretrained(tmp_path)
    edited(tmp_path, architectures=["BertForMaskedLM"])
    model = load(tmp_path)
    assert trace(model, ids()).output.values.shape == (2, TOKENS, 101)
    assert {name.rpartition(".")[0] for name in model.left_out} == {
        "bert.pooler.dense",
        "cls.seq_relationship",
    }
    assert verify(model, ids()).left_out == model.left_out
    edited(tmp_path, architectures=None)
    assert "has no place for cls" in load(tmp_path).door_reason


# --- refusals -------------------------------------------------------------------------------------


def edited(path: Path, **changes: Any) -> None:
    file = path / "config.json"
    settings = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({name: each for name, each in settings.items() if each != "lost"}))


def refused(path: Path, message: str) -> None:
    """Asked for our network, loading fails with one line that names the checkpoint."""
    with pytest.raises(CheckpointError, match=message) as caught:
        load(path, door="own")
    said = str(caught.value)
    assert said.startswith("odd: ")
    assert "\n" not in said
    assert len(said) < 500


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("BertModel", {"rotary_base": 10_000}, r"does not know: \['rotary_base'\]"),
        ("BertModel", {"rope_parameters": {}}, r"does not know: \['rope_parameters'\]"),
        (
            "BertModel",
            {"position_embedding_type": "relative_key"},
            "position_embedding_type: expected",
        ),
        ("BertModel", {"is_decoder": True}, "is_decoder: expected False, received True"),
        ("BertModel", {"pruned_heads": {"0": [1]}}, "pruned_heads: expected {}"),
        (
            "BertModel",
            {"model_type": "gpt2"},
            "there is no converter for model_type 'gpt2': expected",
        ),
        ("BertModel", {"hidden_act": "silu"}, "hidden_act: expected one of .*, received 'silu'"),
        ("BertModel", {"hidden_act": ["gelu"]}, "hidden_act: expected one of"),
        ("BertModel", {"hidden_size": 36}, "for dim 36, received 5"),
        ("BertModel", {"hidden_size": "35"}, "hidden_size: expected a whole number from 1"),
        ("BertModel", {"hidden_size": "lost"}, "config.json lacks hidden_size"),
        ("BertModel", {"type_vocab_size": 0}, "type_vocab_size: expected a whole number from 1"),
        ("BertModel", {"num_hidden_layers": True}, "num_hidden_layers: expected a whole number"),
        ("BertModel", {"layer_norm_eps": "small"}, "layer_norm_eps: expected a number"),
        ("ViTModel", {"image_size": [1, 2, 3]}, "image_size: expected a whole number or two"),
        ("ViTModel", {"qkv_bias": "yes"}, "qkv_bias: expected true or false, received 'yes'"),
        ("ViTModel", {"num_hidden_layers": 4}, r"the checkpoint lacks blocks\.3\."),
        ("ViTModel", {"num_hidden_layers": 2}, r"no place in ViT: blocks\.2\."),
        ("ViTModel", {"intermediate_size": 54}, r"wrong shapes for blocks\.0\.feed_forward"),
        ("ViTModel", {"image_size": 44}, "positions.table .10 × 35 in place of 17 × 35."),
        (
            "LlamaForCausalLM",
            {"attention_bias": True},
            "attention_bias: expected False, received True",
        ),
        (
            "LlamaForCausalLM",
            {"rope_parameters": {"rope_type": "llama3"}},
            "expected rope_type 'default'",
        ),
        ("LlamaForCausalLM", {"rope_parameters": {"factor": 2}}, "expected only rope_theta"),
        ("Dinov2Model", {"use_swiglu_ffn": True}, "use_swiglu_ffn: expected False, received True"),
    ],
)
def test_settings_that_are_refused(kind: str, changes: dict, message: str, tmp_path: Path) -> None:
    built(kind).save_pretrained(tmp_path / "odd")
    edited(tmp_path / "odd", **changes)
    refused(tmp_path / "odd", message)


def test_what_only_the_library_can_compute_is_left_to_it(tmp_path: Path) -> None:
    """Where the library fails too, the line is the one of our converter."""
    theirs = built("BertModel", hidden_act="silu")
    theirs.save_pretrained(tmp_path / "odd")
    found = load(tmp_path / "odd")
    assert found.door == "transformers"
    with torch.no_grad():
        expected = theirs(ids(), output_attentions=True).attentions
    for layer, weights in enumerate(expected):
        # float32 through a few layers, sums in another order
        assert (trace(found, ids()).weights(layer) - weights[0]).abs().max() < ROUNDING
    edited(tmp_path / "odd", hidden_act="no-such")
    with pytest.raises(CheckpointError, match=r"^odd: hidden_act: expected one of"):
        load(tmp_path / "odd")
