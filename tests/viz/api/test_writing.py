"""A text that a decoder goes on with: the answer, its cache, and draws without another pass."""

from pathlib import Path

import pytest
import torch
import transformers

from analysis.generation import continue_text
from models.edits import Ablate, AblateMLP
from models.request import Source, TraceRequest
from models.run import load, trace
from tests.models.vocabularies import llama
from tests.viz.api.asking import TEXT, ask, entry_of
from viz.api import tracing, writing
from viz.api.endpoint import QuestionError


@pytest.mark.parametrize("edits", [(), (Ablate(1, 0),)], ids=["plain", "ablated"])
def test_a_text_is_gone_on_with_as_by_the_analysis(edits) -> None:
    answer = ask(entry_of(edits=edits), "written", count=4)
    assert answer["text"] == TEXT + answer["written"]
    whole = entry_of(text=answer["text"]).trace.tokens[0]
    expected = continue_text(load("grammar-next"), TEXT, 4, edits=edits).trace.tokens[0]
    assert whole.ids[:10] == expected.ids
    assert answer["tokens"] == list(whole.labels[6:10])
    assert answer["note"] == ""


@pytest.mark.parametrize("kind", ["Mistral", "Olmo2"])
def test_a_space_alone_does_not_end_a_text(kind: str, tmp_path: Path) -> None:
    """Each token is followed by one: "▁", which decodes to nothing, too. Oracle: `generate`."""
    reader = transformers.LlamaTokenizer(llama().get_vocab() | {"<s>": 272, "</s>": 273}, [])
    chain = [reader.get_vocab()[piece] for piece in ("i", "▁", "a", "b", "</s>")]
    sizes = {"vocab_size": 280, "hidden_size": 280, "intermediate_size": 8, "num_hidden_layers": 1}
    sizes |= {"num_attention_heads": 4, "num_key_value_heads": 4, "eos_token_id": 273}
    config = getattr(transformers, f"{kind}Config")(**sizes, tie_word_embeddings=False)
    network = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    with torch.no_grad():
        for name, weights in network.named_parameters():
            weights.zero_() if "proj" in name or "head" in name else None
        network.get_input_embeddings().weight.copy_(torch.eye(280))
        network.get_output_embeddings().weight[chain[1:], chain[:-1]] = 5
    network.save_pretrained(tmp_path)
    reader.save_pretrained(tmp_path)
    ids = reader("i", return_tensors="pt").input_ids
    said = network.generate(ids, do_sample=False, max_new_tokens=8)[0]
    request = TraceRequest(Source("folder", str(tmp_path)), "i")
    answer = ask(tracing.entry_for(request).value, "written", count=8)
    assert answer["text"] == reader.decode(said, skip_special_tokens=True) == "i ab"
    assert answer["tokens"] == [" ", "a", "b"]


def test_the_cache_receives_the_mean_weights_of_each_step() -> None:
    entry = entry_of(text=f"{TEXT} because it was")
    answer = ask(entry, "cache", first=5)
    weights = [entry.trace.weights(site).mean(0) for site in entry.trace.sites]
    mean = torch.stack(weights).mean(0)
    assert len(answer["rows"]) == 3
    for step, row in enumerate(answer["rows"]):
        assert row == pytest.approx(mean[5 + step, : 6 + step].tolist(), abs=1e-3)
        share = entry.trace.output.values[0, 5 + step].softmax(-1)
        id = entry.trace.tokens[0].ids[6 + step]
        assert answer["probabilities"][step] == pytest.approx(float(share[id]), rel=1e-4)
    with pytest.raises(QuestionError):
        ask(entry, "cache", first=8)


@pytest.mark.parametrize("edit", [Ablate(1, 0, "mean"), AblateMLP(0, "shuffled")], ids=str)
def test_steps_that_one_pass_does_not_show_are_not_shown(edit) -> None:
    entry = entry_of(text=f"{TEXT} because it was", edits=(edit,))
    assert "does not show the steps" in ask(entry, "cache", first=5)["why"]
    told = ask(entry_of(edits=(edit,)), "written", count=2)
    model = load("grammar-next")
    begun = continue_text(model, TEXT, 1, edits=(edit,))
    ids = torch.tensor([[*begun.begun, *begun.ids]])
    second = trace(model, ids, edits=(edit,)).output.row(-1).softmax(-1).max()
    assert told["probabilities"][1] == pytest.approx(float(second), rel=1e-4)


def test_what_goes_on_with_no_text_says_so_in_a_line() -> None:
    answer = ask(entry_of("grammar", "the cat"), "written", count=2)
    assert "decoder" in answer["why"]
    with pytest.raises(QuestionError):
        ask(entry_of(), "written", count=0)
    assert not writing.writes(load("grammar"))
    model = load("grammar-next")
    assert writing.writes(model)
    assert writing.given_of(model, f"{TEXT} because", len(TEXT)) == 6
    assert writing.given_of(model, TEXT, len(TEXT)) is None
    built = TraceRequest(tracing.stamped(Source("built", "encoder")), TEXT)
    assert "decoder" in ask(tracing.entry_for(built).value, "written", count=2)["why"]
