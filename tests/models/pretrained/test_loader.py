"""What a checkpoint or a module in memory says of itself, and how its faults are put."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn

from models.files.errors import CheckpointError
from models.files.folder import Folder
from models.pretrained import tokenizers
from models.pretrained.loader import load_folder, token_limit
from models.pretrained.tokenizers import read_tokenizer
from models.run import load
from tests.models.architectures import BY_NAME, TEXT, build


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (BY_NAME["BERT"].build, 29),
        (BY_NAME["Llama"].build, 29),
        # positions begin behind padding's own
        (lambda: build("RobertaModel", "RobertaConfig", {**TEXT, "pad_token_id": 0}), 28),
        (lambda: build("RobertaModel", "RobertaConfig", {**TEXT, "pad_token_id": 1}), 27),
        (BY_NAME["T5"].build, 10**6),  # any distance has a bucket
        (BY_NAME["ViT"].build, 25),  # 20 × 20 pixels in patches of 4 × 4
    ],
    ids=["BERT", "Llama", "RoBERTa, 0", "RoBERTa, 1", "T5", "ViT"],
)
def test_the_number_of_tokens_that_have_a_position(make: Any, most: int) -> None:
    assert TEXT["max_position_embeddings"] == 29
    assert token_limit(make()) == most


def test_the_outermost_model_of_a_module() -> None:
    """Itself, if it is one, whatever models are inside of it."""
    whole = build("BertForSequenceClassification", "BertConfig", TEXT)
    for module in (whole, nn.Sequential(nn.Linear(3, 3), nn.ModuleDict({"encoder": whole}))):
        assert load(module).network is whole
    assert load(whole).name == "BertForSequenceClassification"
    with pytest.raises(ValueError, match="Sequential contains 2 models of transformers: load one"):
        load(nn.Sequential(whole, BY_NAME["BERT"].build()))
    with pytest.raises(ValueError, match="a model of transformers, received Linear"):
        load(nn.Linear(3, 3))


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (1, "{}: download"),
        (4, "{}, {}, {} and 1 more: download"),
    ],
)
def test_three_missing_tensors_are_named(count: int, message: str, tmp_path: Any) -> None:
    network: Any = BY_NAME["BERT"].build()
    network.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    state = load_file(file)
    lost = sorted(name for name in state if "pooler" not in name)[:count]
    save_file({name: x for name, x in state.items() if name not in lost}, file)
    with pytest.raises(CheckpointError) as error:
        load_folder(Folder.at(tmp_path), "model")
    assert str(error.value) == f"the checkpoint lacks {message.format(*lost)} it again"


@pytest.mark.parametrize("name", tokenizers.COMPANION_FILES)
def test_no_file_beside_a_vocabulary_leads_out_of_the_folder(name: str, tmp_path: Any) -> None:
    """The library would read them all."""
    outside, inside = tmp_path / "outside.json", tmp_path / "inside"
    outside.write_text("{}", encoding="utf-8")
    inside.mkdir()
    (inside / "vocab.json").write_text("{}", encoding="utf-8")
    (inside / name).symlink_to(outside)
    with pytest.raises(CheckpointError, match=f"{name} is a link out of the folder"):
        read_tokenizer(Folder.at(inside))


def test_a_tokenizer_that_asks_to_run_code_is_refused(tmp_path: Any) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nword\n", encoding="utf-8")
    settings = tmp_path / "tokenizer_config.json"
    settings.write_text('{"tokenizer_class": "BertTokenizer"}', encoding="utf-8")
    found = read_tokenizer(Folder.at(tmp_path))
    assert found is not None
    settings.write_text('{"auto_map": {"AutoTokenizer": ["own.Own", null]}}', encoding="utf-8")
    with pytest.raises(CheckpointError, match="asks to run code of its own: refused"):
        read_tokenizer(Folder.at(tmp_path))
    (tmp_path / "vocab.txt").unlink()
    assert read_tokenizer(Folder.at(tmp_path)) is None


def test_code_beside_a_tokenizer_file_is_not_run(tmp_path: Path) -> None:
    """Where the class sets how words are marked, the library reads the folder."""
    made = Tokenizer(models.WordLevel({"[UNK]": 0, "▁a": 1}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Metaspace()  # type: ignore[assignment]
    made.save(str(tmp_path / "tokenizer.json"))
    ran = tmp_path / "ran.txt"
    (tmp_path / "own.py").write_text(
        "from pathlib import Path\n"
        "from transformers import PreTrainedTokenizerFast\n"
        f"Path({str(ran)!r}).write_text('here')\n"
        "class Own(PreTrainedTokenizerFast): ...\n"
    )
    settings = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": [None, "own.Own"]}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    found = read_tokenizer(Folder.at(tmp_path))
    assert found is not None
    assert found.encode("a").ids == (1,)
    assert not ran.exists()


def test_models_that_load_at_a_time_keep_their_tied_weights(tmp_path: Path) -> None:
    network: Any = build("LlamaForCausalLM", "LlamaConfig", {**TEXT, "tie_word_embeddings": True})
    network.save_pretrained(tmp_path)
    start = threading.Barrier(4)

    def loaded(_: int) -> bool:
        start.wait(timeout=60)
        again: Any = load_folder(Folder.at(tmp_path), "model").network
        return again.lm_head.weight is again.model.embed_tokens.weight

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(loaded, range(4)))
