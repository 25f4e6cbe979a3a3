"""What the second door takes, refuses, and leaves as it was."""

import gc
import threading
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from benchmarks import threads
from benchmarks.coverage.tiny import build
from models.edits import Ablate, Cut
from models.pretrained.implementation import NAME
from models.pretrained.interface import IRRELEVANT, _recording
from models.pretrained.sources import Sources
from models.run import load, trace
from models.verify import verify
from tests.models import architectures
from tests.models.architectures import BY_NAME, SIZES, TEXT, ids, padded, text

EXACT = 1e-5  # float32 through two layers whose scores reach 50


@cache
def model(name: str) -> Any:
    return BY_NAME[name].build()


@pytest.mark.parametrize("name", ["BERT", "Llama", "BART"])  # it goes through every object
def test_a_trace_keeps_queries_keys_values_and_the_output_alone(name: str) -> None:
    network, given = model(name), BY_NAME[name].inputs()
    before = _live()
    found = trace(network, given)
    kept = _live() - before
    qkv = {_held(each) for pattern in found.patterns for each in (pattern.q, pattern.k, pattern.v)}
    known = qkv | {_held(found.output.values)} | {_held(each) for each in given.values()}
    ids = 8 * max(each.numel() for each in given.values())  # bytes of a number a token
    assert all(size <= ids for _, size in kept - known)
    assert sum(size for _, size in qkv) == sum(
        4 * each.numel() for pattern in found.patterns for each in (pattern.q, pattern.k, pattern.v)
    )


def _live() -> set[tuple[int, int]]:
    """The storages of all tensors there are: where, and how many bytes."""
    gc.collect()
    return {_held(each) for each in gc.get_objects() if type(each) in (torch.Tensor, nn.Parameter)}


def _held(tensor: torch.Tensor) -> tuple[int, int]:
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


def test_half_precision(tmp_path: Path) -> None:
    model("Llama").save_pretrained(tmp_path)
    half = load(tmp_path, dtype=torch.bfloat16)
    assert {p.dtype for p in half.network.parameters()} == {torch.bfloat16}
    found = trace(half, torch.tensor([[3, 4, 5]]))
    assert found.output.values.dtype == torch.bfloat16
    assert found.weights(0).dtype == torch.float32
    assert {p.dtype for p in load(tmp_path).network.parameters()} == {torch.float32}


# --- inputs -------------------------------------------------------------------------------------


def test_a_pair_of_towers_needs_both() -> None:
    with pytest.raises(ValueError, match="reads text and images: give it both"):
        trace(model("CLIP"), torch.tensor([[3, 4, 5]]))
    found = trace(model("CLIP"), BY_NAME["CLIP"].inputs())
    assert {site.tower for site in found.sites} == {"text", "vision"}
    with pytest.raises(ValueError, match="tower: layer 0 has"):
        trace(model("SigLIP"), BY_NAME["SigLIP"].inputs()).weights(0)
    site = found.site(0, tower="vision")
    assert found.query_labels(site)[1] == "patch 0,0"
    assert found.query_labels(found.site(0, tower="text"))[0] == "44"


def test_targets_are_shifted() -> None:
    source, target = torch.tensor([[3, 4, 5, 2]]), torch.tensor([[7, 8, 2]])
    found = trace(model("BART"), source, target)
    assert found.target_tokens is not None
    assert found.target_tokens[0].labels == ("<begin>", "7", "8")
    cross = found.site(0, "cross")
    assert found.query_labels(cross) == ["<begin>", "7", "8"]
    assert found.key_labels(cross) == ["3", "4", "5", "2"]
    with pytest.raises(ValueError, match="target: expected none, GPT2LMHeadModel is no"):
        trace(model("GPT-2"), source, target)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["levit", "mobilevit"])
def test_attention_outside_of_the_interface_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=r"interface: .*Attention.* computes? its weights itself"):
        load(build(name))


@pytest.mark.parametrize("ask", [trace, verify])
@pytest.mark.parametrize(
    ("family", "sizes", "line"),
    [
        (  # sparse attention passes its choice beside the mask
            "DeepseekV32",
            SIZES["latent"] | {"index_topk": 3, "index_n_heads": 2, "index_head_dim": 8},
            r"Attention \(.*layers.0.*passes its attention indices",
        ),
        (  # differential attention subtracts one map from another
            "DiffLlama",
            SIZES["grouped"] | {"num_attention_heads": 4},
            r"layers\.0\.self_attn attends 2 times in one pass: what the layer makes of its maps",
        ),
    ],
)
def test_what_a_layer_makes_of_its_maps_is_refused(
    ask: Any, family: str, sizes: dict[str, Any], line: str
) -> None:
    with pytest.raises(ValueError, match=line):
        ask(architectures.build(f"{family}ForCausalLM", f"{family}Config", sizes), text())


def test_a_network_without_attention() -> None:
    config = transformers.MambaConfig(vocab_size=53, hidden_size=8, num_hidden_layers=1)
    with pytest.raises(ValueError, match="has no attention layers"):
        load(transformers.MambaModel(config))


def test_layers_that_never_call_the_interface_are_named() -> None:
    """Their source mentions it, but what they call is their own function."""
    network: Any = BY_NAME["BERT"].build()
    layer = network.encoder.layer[1].attention.self

    def own(states: torch.Tensor, *_: Any, **__: Any) -> Any:
        return states, None

    layer.forward = own
    found = trace(network, BY_NAME["BERT"].inputs())
    assert [site.layer for site in found.sites] == [0]
    assert found.notes == (
        "not shown: BertSelfAttention (encoder.layer.1.attention.self), which does not use"
        " transformers' attention interface",
    )
    network.encoder.layer[0].attention.self.forward = own
    with pytest.raises(
        ValueError, match=r"BertSelfAttention \(encoder\.layer\.0\.attention\.self,"
    ):
        trace(network, BY_NAME["BERT"].inputs())


def test_a_keyword_that_is_not_known_is_named() -> None:
    """A map drawn without what a library asks for would be wrong."""
    assert "s_aux" not in IRRELEVANT
    given = {"input_ids": torch.tensor([[3, 4]]), "slope": torch.ones(3)}
    with pytest.raises(ValueError, match="passes its attention slope, which is not supported"):
        trace(model("Llama"), given)
    held_nothing("Llama")


# --- what is left as it was -----------------------------------------------------------------------


def held_nothing(name: str) -> None:
    """No recording, no name of ours in any config, no hook."""
    assert _recording.get() is None
    assert all(
        NAME != getattr(part.config, "_attn_implementation", None)
        for part in model(name).modules()
        if hasattr(part, "config")
    )
    assert not any(part._forward_pre_hooks for part in model(name).modules())


@pytest.mark.parametrize("name", ["BERT", "Swin", "CLIP", "T5"])
def test_a_trace_that_fails_leaves_nothing(name: str) -> None:
    given = BY_NAME[name].inputs()
    before = model(name)(**given)[0]
    with pytest.raises(ValueError, match="head: expected 0 to"):
        trace(model(name), given, edits=[Ablate(1, 99)])
    held_nothing(name)
    with pytest.raises(ValueError, match="layer: expected 0 to"):
        trace(model(name), given, edits=[Cut(9, 0, 0, 0)])
    held_nothing(name)
    assert model(name)(**given)[0].equal(before)


@pytest.mark.parametrize("name", ["BERT", "Gemma 2 eager", "Qwen2-VL"])
def test_other_calls_are_not_touched(name: str) -> None:
    """A model that somebody traces computes as ever for everybody else: eager weights included,
    and images that are packed apart."""
    own: Any
    each = BY_NAME[name.removesuffix(" eager")]
    own, given = each.build(), each.inputs()
    own.set_attn_implementation("eager" if "eager" in name else "sdpa")
    asked = {**given, "output_attentions": "eager" in name}
    seen: list[Any] = []

    def meanwhile(*_: Any) -> None:
        thread = threading.Thread(target=lambda: seen.append(own(**asked)))
        if not seen:
            seen.append(None)
            thread.start()
            thread.join()

    with torch.no_grad():
        expected = own(**asked)
    inside = next(m for m in own.modules() if isinstance(m, torch.nn.Linear))
    hook = inside.register_forward_hook(meanwhile)
    trace(own, given)
    hook.remove()
    assert (seen[1][0] - expected[0]).abs().max() <= (EXACT if name == "Qwen2-VL" else 0)
    if "eager" in name:
        assert seen[1].attentions[0].equal(expected.attentions[0])


@pytest.mark.long
def test_eight_threads_on_three_models() -> None:
    """Nothing mixes, leaks or stays; a full minute is what benchmarks.threads takes."""
    report = threads.run(0.0, least=14)
    assert (report.traces, report.failures) == (8 * 12, 8 * 2)
    assert report.apart < EXACT  # sums may be split otherwise
    assert report.leaked == 0
    assert report.left == ()


# --- what a trace says of its model ---------------------------------------------------------------


def test_logits_of_the_last_tokens_alone() -> None:
    """Each row is that of its own token, also with padding in front."""
    given = padded(2, 11, 4, left=True)
    whole, last = (trace(model("Llama"), given, logits_to_keep=keep) for keep in (None, 3))
    assert (last.output.first, last.output.values.shape[1]) == (8, 3)
    for item, count in enumerate((11, 7)):
        assert last.output.missing(item) == count - 3
        for place in range(count - 3, count):
            off = last.output.row(place, item) - whole.output.row(place, item)
            assert off.abs().max() < EXACT
        with pytest.raises(ValueError, match=f"logits were kept from token {count - 3} on"):
            last.output.row(count - 4, item)


def test_logits_of_chosen_tokens_are_refused() -> None:
    given = {"input_ids": ids(1, 7), "logits_to_keep": torch.tensor([2, 5])}
    with pytest.raises(ValueError, match=r"logits_to_keep: expected how many .* received Tensor"):
        trace(model("Llama"), given)


def test_a_map_that_would_leave_keys_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoder states taken for the tokens, of which the last three of an item are padding."""
    shown = torch.ones(2, 9, dtype=torch.long)
    shown[1, 6:] = 0
    given = {"input_ids": ids(2, 9), "attention_mask": shown}
    given["encoder_hidden_states"] = torch.ones(2, 9, TEXT["hidden_size"])
    monkeypatch.setattr(Sources, "keys", lambda self, states, queries: queries)
    with pytest.raises(ValueError, match=r"would leave out 0\.33 of a row"):
        trace(BY_NAME["BERT decoder"].build(), given)
