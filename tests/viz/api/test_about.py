"""What is known of a model: its card, its code, and the verdict of the second pass."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from models.card import card
from models.catalogue import entry as catalogue_entry
from models.request import Ids, Source, TraceRequest
from models.verify import Verdict
from tests.models.architectures import BY_NAME, TEXT
from tests.viz.api.asking import ask
from viz.api import about, tracing
from viz.api.entries import TraceEntry


def entry_of(source: Source, given: Any) -> TraceEntry:
    return tracing.entry_for(TraceRequest(tracing.stamped(source), given)).value


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> TraceEntry:
    folder = tmp_path_factory.mktemp("llama")
    model: Any = BY_NAME["Llama"].build()
    model.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    return entry_of(Source("folder", str(folder)), Ids((3, 4, 5, 6)))


def test_the_card_states_what_the_model_is(llama: TraceEntry) -> None:
    facts = ask(llama, "about")["facts"]
    assert facts["Architecture"] == "llama"
    assert facts["Run by"] == "transformers (LlamaForCausalLM)"
    assert facts["Heads"] == "6 of queries, 2 of keys and values"
    assert facts["Positions"] == "rotary"
    assert facts["Licence"] == "apache-2.0"
    assert facts["Tokenizer"] == "none: the model takes ids"
    assert facts["Precision"] == "float32 on cpu"


def test_the_card_of_a_model_that_was_trained_here_has_its_task() -> None:
    known = card(catalogue_entry("grammar"))
    assert known is not None
    answer = ask(entry_of(Source("catalogue", "grammar"), known.examples[0].input), "about")
    assert known.task in answer["sentences"][0]


@pytest.mark.parametrize(("model", "file"), [("minilm", "encoder"), ("grammar-next", "decoder")])
def test_the_code_of_the_network_can_be_read(model: str, file: str) -> None:
    answer = ask(entry_of(Source("catalogue", model), "the cat"), "about")
    assert answer["file"] == f"models/{file}.py"
    assert answer["code"] == (about.ROOT / answer["file"]).read_text(encoding="utf-8")


def test_a_classifier_keeps_its_head_and_the_card_says_what_is_not_used(tmp_path: Path) -> None:
    config = transformers.BertConfig(**{**TEXT, "num_labels": 3})
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    answer = ask(entry_of(Source("folder", str(tmp_path)), Ids((3, 4, 5))), "about")
    assert answer["facts"]["Run by"] == "transformers (BertForSequenceClassification)"
    no_place = "Headscope’s own network has no place for classifier (2 tensors)."
    assert answer["sentences"] == [no_place]
    assert answer["file"] == "models/encoder.py"
    own = tracing.opened(tracing.stamped(Source("folder", str(tmp_path), door="own")))
    assert "classifier.weight" in about.facts(own, None)["Weights not used"]


def test_the_model_runs_again_by_its_weights(llama: TraceEntry) -> None:
    verdict = ask(llama, "check")["verdict"]
    assert verdict.startswith("Yes, up to the rounding of float32. With the values of all 2 atten")


@pytest.mark.parametrize(
    ("apart", "dtype", "begins"),
    [
        (1e-6, torch.float32, "Yes, up to the rounding of float32"),
        (1e-2, torch.float32, "No: they differ"),
        (1e-2, torch.bfloat16, "Yes, up to the rounding of bfloat16"),
    ],
)
def test_the_verdict_knows_the_precision(apart: float, dtype: Any, begins: str) -> None:
    line = about.worded(Verdict(apart, 1.0, 6, 144), dtype)
    assert line.startswith(begins)
    assert "all 6 attention layers" in line


def test_what_the_network_does_not_use_stands_beside_the_verdict() -> None:
    unused = ("bert.pooler.dense.weight", "bert.pooler.dense.bias", "cls.bias")
    line = about.worded(Verdict(1e-6, 1.0, 6, 144, left_out=unused), torch.float32)
    assert line.endswith("Of the checkpoint, it does not use bert.pooler (2 tensors), cls.bias.")


def test_the_verdict_of_one_pass() -> None:
    """Where other passes are no reference."""
    found = Verdict(0.9, 1.0, 6, 144, 12, 0.7, traced=0.0, values=2e-7, eager=0.8)
    line = about.worded(found, torch.float32)
    assert line.startswith("Yes, up to the rounding of float32. The traced output differs")
    assert "computed from these weights by at most 2.0e-07 of the largest" in line
    assert "their outputs differ by up to 9.0e-01" in line
    assert "map" not in line
