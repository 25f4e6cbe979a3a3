"""BERTs of odd shapes, opened from a folder, against transformers; and what is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

from models.model import Door
from models.run import CheckpointError, Model, load, trace
from models.verify import verify

BATCH, TOKENS, VOCAB, LAYERS, HEADS = 2, 17, 101, 3, 5
ROUNDING = 1e-5  # weights redrawn this wide make scores of up to 50, which float32 gives to 4e-6

SHAPE: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 35,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 53,
    "max_position_embeddings": 37,
}
EAGER: dict[str, Any] = {"attn_implementation": "eager"}  # the one that gives its weights
VARIANTS: list[dict[str, Any]] = [
    {},
    {"type_vocab_size": 1, "hidden_act": "relu", "layer_norm_eps": 1e-5},
    {"type_vocab_size": 3, "hidden_act": "gelu_new", "layer_norm_eps": 0.1},
    {"num_attention_heads": 7, "hidden_act": "gelu_pytorch_tanh"},
    {"num_hidden_layers": 1, "num_attention_heads": 1},
]


def redrawn(network: Any) -> Any:
    """With weights wide enough that every head differs from the others."""
    dice = torch.Generator().manual_seed(31)
    for parameter in network.parameters():
        parameter.data = 0.3 * torch.randn(parameter.shape, generator=dice)
    for part in network.modules():
        if isinstance(part, nn.LayerNorm):
            part.weight.data += 1
    return network.eval()


def bert(head: type = BertModel, **changes: Any) -> Any:
    config = BertConfig(**SHAPE | EAGER | changes)
    return redrawn(head(config))


def ids() -> Tensor:
    return torch.randint(VOCAB, (BATCH, TOKENS), generator=torch.Generator().manual_seed(37))


def agree(model: Model, theirs: BertModel) -> None:
    """Every head, every hidden state, with segments and padding."""
    config: Any = model.network.config
    kinds = config.segments
    segments = torch.arange(TOKENS).expand(BATCH, TOKENS) % kinds
    padding = torch.zeros(BATCH, TOKENS, dtype=torch.bool)
    padding[1, 13:] = True
    with torch.no_grad():
        found = model.network(ids(), padding=padding, segments=segments)
        expected = theirs(
            input_ids=ids(),
            attention_mask=(~padding).long(),
            token_type_ids=segments,
            output_attentions=True,
            output_hidden_states=True,
        )
    real = ~padding
    for pattern, attention in zip(found.patterns, expected.attentions, strict=True):
        off = (pattern.weights() - attention).abs().amax((1, 3))
        assert off[real].max() < ROUNDING
        apart = (attention[:, :, None] - attention[:, None]).abs().amax((0, 3, 4))
        assert (apart + torch.eye(len(apart))).min() > 0.01  # heads differ: none can be swapped
    for state, theirs_state in zip(found.states, expected.hidden_states, strict=True):
        off = (state - theirs_state)[real].abs().max()
        assert off < ROUNDING * theirs_state.abs().max()
    assert found.hidden.equal(found.states[-1])


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_odd_shapes(changes: dict, tmp_path: Path) -> None:
    theirs = bert(**changes)
    theirs.save_pretrained(tmp_path)
    model = load(tmp_path)
    assert model.trained
    assert not model.network.training
    assert model.tokenizer is None
    agree(model, theirs)


def test_under_a_prefix(tmp_path: Path) -> None:
    """As a language model: "bert." before each name, and a head that ours has no place for."""
    whole = bert(BertForMaskedLM)
    whole.save_pretrained(tmp_path)
    model = load(tmp_path, door="own")
    assert len(model.left_out) == 5
    assert all(name.startswith("cls.predictions.") for name in model.left_out)
    agree(model, whole.bert)


HEADS_ON_TOP = (
    BertForMaskedLM,
    BertForPreTraining,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertForQuestionAnswering,
    BertForNextSentencePrediction,
)


@pytest.mark.parametrize("head", HEADS_ON_TOP, ids=lambda head: head.__name__)
def test_a_checkpoint_keeps_its_head(head: type, tmp_path: Path) -> None:
    """Its output is that of the class it was saved from, and a line says who runs it, and why."""
    theirs = bert(head)
    theirs.save_pretrained(tmp_path)
    model = load(tmp_path)
    assert model.left_out == ()
    assert model.door == "transformers"
    assert model.door_reason.startswith("Headscope’s own network has no place for ")
    with torch.no_grad():
        expected = theirs(ids())[0]
    assert torch.allclose(trace(model, ids()).output.values, expected, atol=ROUNDING)


def test_what_another_head_needs_is_named(tmp_path: Path) -> None:
    """The files of the first BERTs hold the weights of both tasks, and the config names one."""
    bert(BertForPreTraining).save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text())
    settings["architectures"] = ["BertForMaskedLM"]
    (tmp_path / "config.json").write_text(json.dumps(settings))
    model = load(tmp_path)
    assert trace(model, ids()).output.values.shape == (BATCH, TOKENS, VOCAB)
    assert {name.removesuffix(".weight").removesuffix(".bias") for name in model.left_out} == {
        "bert.pooler.dense",
        "cls.seq_relationship",
    }
    assert verify(model, ids()).left_out == model.left_out


def test_a_head_that_no_class_claims_is_named(tmp_path: Path) -> None:
    """Without `architectures`, nothing says what the head computes."""
    bert(BertForMaskedLM).save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text())
    del settings["architectures"]
    (tmp_path / "config.json").write_text(json.dumps(settings))
    model = load(tmp_path)
    assert (model.door, len(model.left_out)) == ("transformers", 5)
    assert "has no place for cls" in model.door_reason


def rewritten(path: Path, change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> None:
    """The weights of a folder, changed."""
    file = path / "model.safetensors"
    save_file(change(load_file(file)), file)


def test_old_names_of_layer_norm(tmp_path: Path) -> None:
    theirs = bert()
    theirs.save_pretrained(tmp_path)

    def old(name: str) -> str:
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        )

    rewritten(tmp_path, lambda state: {old(name): tensor for name, tensor in state.items()})
    agree(load(tmp_path), theirs)


def test_without_a_pooler(tmp_path: Path) -> None:
    theirs = redrawn(BertModel(BertConfig(**SHAPE | EAGER), False))
    theirs.save_pretrained(tmp_path)
    model = load(tmp_path)
    assert model.left_out == ()
    agree(model, theirs)


def test_half_precision_weights_are_read_in_full(tmp_path: Path) -> None:
    theirs = bert().half()
    theirs.save_pretrained(tmp_path)
    model = load(tmp_path)
    assert {parameter.dtype for parameter in model.network.parameters()} == {torch.float32}
    agree(model, theirs.float())


# --- refusals ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bert")
    bert().save_pretrained(path)
    return path


@pytest.fixture
def copied(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "odd-bert"))


def refused(path: Path, *parts: str, door: Door | None = None) -> None:
    """Loading fails with one line that names the checkpoint and has these parts."""
    with pytest.raises(CheckpointError) as caught:
        load(path, door=door)
    message = str(caught.value)
    assert message.startswith("odd-bert: ")
    assert all(part in message for part in parts), message
    assert "\n" not in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("rotary_base", 10_000),
        ("quantization_config", {"bits": 4}),
        ("position_embedding_type", "relative_key"),
        ("is_decoder", True),
        ("add_cross_attention", True),
        ("pruned_heads", {"0": [1]}),
        ("chunk_size_feed_forward", 7),
        ("model_type", "no-such-type"),
        ("model_type", None),
        ("hidden_act", "silu"),
        ("hidden_act", ["gelu"]),
        ("hidden_size", 36),
        ("hidden_size", "35"),
        ("vocab_size", None),
        ("type_vocab_size", 0),
        ("num_hidden_layers", True),
        ("layer_norm_eps", "small"),
    ],
)
def test_settings_that_are_refused(copied: Path, setting: str, value: object) -> None:
    file = copied / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {setting: value}))
    name = {"model_type": "is not an architecture of transformers"}.get(setting, setting)
    door = None if setting == "model_type" else "own"
    refused(copied, "for dim 36, received 5" if value == 36 else name, door=door)


@pytest.mark.parametrize("door", [None, "own"])
def test_damaged_weights(copied: Path, door: Door | None) -> None:
    file = copied / "model.safetensors"
    state = {name: tensor.clone() for name, tensor in load_file(file).items()}
    name = next(name for name in state if name.endswith("query.weight"))
    state[name][1, 2] = torch.nan
    save_file(state, file)
    refused(copied, "holds NaN or infinity: the weights are damaged", door=door)


def test_what_only_the_library_can_compute_is_left_to_it(copied: Path) -> None:
    """A setting the converter refuses opens through the library's own code; asked for ours, not."""
    file = copied / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"hidden_act": "silu"}))
    found = load(copied)
    assert found.door == "transformers"
    assert found.network.config.hidden_act == "silu"
    refused(copied, "hidden_act: expected one of", door="own")
    ids = torch.tensor([[3, 4, 5]])
    theirs: Any = BertModel.from_pretrained(copied, **EAGER).eval()
    with torch.no_grad():
        expected = theirs(ids, output_attentions=True).attentions
    for layer, weights in enumerate(expected):
        # float32 through a few layers, sums in another order
        assert (trace(found, ids).weights(layer) - weights[0]).abs().max() < 1e-5


def test_what_nobody_can_open_is_refused_by_the_converter(copied: Path) -> None:
    """Where the library fails too, the line is the one of our converter."""
    file = copied / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"hidden_act": "no-such"}))
    refused(copied, "hidden_act: expected one of")


@pytest.mark.parametrize("setting", SHAPE)
def test_missing_settings(copied: Path, setting: str) -> None:
    file = copied / "config.json"
    settings = json.loads(file.read_text())
    del settings[setting]
    file.write_text(json.dumps(settings))
    refused(copied, f"config.json lacks {setting}")


def test_settings_beside_the_point_are_allowed(copied: Path) -> None:
    file = copied / "config.json"
    extra = {"_name_or_path": "x", "id2label": {"0": "a"}, "output_attentions": True}
    file.write_text(json.dumps(json.loads(file.read_text()) | extra))
    assert load(copied).network.config.heads == HEADS


QUERY = "encoder.layer.1.attention.self.query.weight"


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda state: state | {"encoder.layer.1.adapter.weight": torch.ones(3)}, ["adapter"]),
        (
            lambda state: {n: x for n, x in state.items() if n != QUERY},
            ["the checkpoint lacks", QUERY],
        ),
        (
            lambda state: state | {QUERY: torch.ones(35, 30)},
            ["blocks.1.attention.query.weight", "(35, 35)", "(35, 30)"],
        ),
        (
            lambda state: state | {n.replace(".2.", ".3."): x.clone() for n, x in state.items()},
            ["no place in a BERT encoder", "encoder.layer.3."],
        ),
    ],
    ids=["unknown", "missing", "wrong shape", "one layer too many"],
)
def test_weights_that_are_refused(copied: Path, change: Any, parts: list[str]) -> None:
    rewritten(copied, change)
    refused(copied, *parts)


def test_ids_are_traced_without_a_tokenizer(saved: Path) -> None:
    found = trace(load(saved), ids())
    assert found.labels == [str(token) for token in ids()[0].tolist()]
    with pytest.raises(ValueError, match="has no tokenizer: give it ids"):
        trace(load(saved), "text")
