"""The coverage benchmark: a type for each mechanism of attention, and that faults are noticed."""

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import SwinConfig
from transformers.models.swin.modeling_swin import SwinLayer

from benchmarks import threads
from benchmarks.coverage import __main__ as command
from benchmarks.coverage import eager, judging, report, tiny, trying
from benchmarks.coverage.judging import AIM, MismatchError
from benchmarks.coverage.model_inputs import alone, padded
from benchmarks.coverage.trying import Row, tried
from models.run import trace

EXACT = {  # beside the architectures of tests.models.architectures
    "gpt_bigcode": "one key and value head for all heads",
    "phi": "rotary positions on a part of each head",
    "llama4_text": "chunks",
    "qwen3_next": "linear attention between",
    "bamba": "state-space layers between",
    "minimax": "lightning attention between",
    "cohere2": "windows without positions between",
    "pegasus": "sinusoidal positions, three kinds",
    "qwen3_vl": "images as patches in a row, positions of three axes",
    "idefics3": "several images an item",
    "segformer": "fewer keys than queries",
    "dinov3_vit": "rotary positions of patches",
    "videomae": "patches of frames",
    "layoutlm": "positions on a page",
    "conditional_detr": "queries of objects, over a backbone of the library instead of timm's",
    "time_series_transformer": "values of a series, lagged",
    "musicgen": "a text that is read, codes that are written",
    "dia_decoder": "ids of several codebooks",
    "mimi_encoder": "an encoder that sets the cache option itself",
    "molmo2_adapter": "features of an image, pooled",
    "florence_vision": "a backbone whose forward takes no options",
}
REFUSED = {
    "bloom": "BloomAttention computes its weights itself",
    "mamba": "no softmax attention weights",
    "fnet": "no softmax attention weights",
}


@pytest.mark.long  # the others of this file try a type of each result
@pytest.mark.parametrize("name", EXACT)
def test_a_type_of_each_mechanism(name: str) -> None:
    row = tried(tiny.model_type(name))
    assert (row.result, row.reason) == ("exact", "")
    assert row.weights < AIM
    assert row.output < 10 * AIM
    assert row.attends > 0


@pytest.mark.parametrize("name", REFUSED)
def test_a_type_without_weights_to_show(name: str) -> None:
    row = tried(tiny.model_type(name))
    assert (row.result, row.reason) == ("refused", REFUSED[name])


# --- faults are noticed ---------------------------------------------------------------------------


@pytest.fixture
def bert() -> tuple[nn.Module, nn.Module]:
    return tiny.build(tiny.model_type("bert"))


def test_another_map_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def swapped(model: Any, inputs: Any) -> Any:
        found = trace(model, inputs)
        order = [1, 0, 2, 3]
        patterns = tuple(replace(p, q=p.q[:, order], k=p.k[:, order]) for p in found.patterns)
        return replace(found, patterns=patterns)

    monkeypatch.setattr(trying, "trace", swapped)
    row = tried(tiny.model_type("bert"))
    assert row.result == "broken"
    assert "a weight differs" in row.reason


def test_another_output_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def louder(model: Any, inputs: Any) -> Any:
        found = trace(model, inputs)
        return replace(found, output=replace(found.output, values=found.output.values * 1.1))

    monkeypatch.setattr(trying, "trace", louder)
    row = tried(tiny.model_type("bert"))
    assert row.result == "broken"
    assert "the output differs" in row.reason


def test_an_error_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(model: Any, inputs: Any) -> Any:
        raise RuntimeError("no\nsuch thing")

    monkeypatch.setattr(trying, "trace", failing)
    assert tried(tiny.model_type("bert")).reason == "plain: trace raises RuntimeError: such thing"
    monkeypatch.setattr(trying, "build", failing)
    assert tried(tiny.model_type("bert")).result == "untried"


def test_columns_that_hold_weight_must_be_shown() -> None:
    theirs = torch.full((2, 5, 5), 0.2)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    given = {"attention_mask": mask}
    assert judging.one_map(theirs, theirs, given, 0) == 0.0
    with pytest.raises(MismatchError, match=r"columns that hold up to 4\.0e-01"):
        judging.one_map(theirs[:, :3, :3], theirs, given, 1)
    with pytest.raises(MismatchError, match="are shown"):
        judging.one_map(theirs[:, :4, :4], theirs, given, 1)
    theirs[..., 3:], theirs[..., :3] = 0.0, 1 / 3
    assert judging.one_map(theirs[:, :3, :3], theirs, given, 1) == 0.0


def test_windows_of_an_image_are_put_together() -> None:
    """Two windows of 2 × 2 over 2 × 3 tokens, shifted by one; two slots lie outside."""
    block = SwinLayer(SwinConfig(window_size=2), 6, (2, 3), 2, shift_size=1)
    places = eager.places_of(block, (2, 3))
    assert places.tolist() == [[4, 5, 1, 2], [-1, 3, -1, 0]]
    windows = torch.rand(4, 3, 4, 4).softmax(-1)
    call = eager.Call("here", "Attention", windows, places=places)
    mine = torch.zeros(3, 6, 8)
    mine[:, [[4], [5], [1], [2]], [[4, 5, 1, 2]]] = windows[2]
    mine[:, [[3], [0]], [[6, 3, 7, 0]]] = windows[3][:, [1, 3]]
    assert judging.in_windows(mine, call, 1) < 1e-6
    assert judging.in_windows(mine.roll(1, 1), call, 1) > 0.01
    assert judging.in_windows(mine, call, 0) > 0.01
    with pytest.raises(MismatchError, match="is not the size of the image"):
        judging.in_windows(mine[:, :5], call, 1)


@pytest.mark.parametrize("case", ["plain", "causal", "booleans", "numbers"])
def test_weights_of_the_fused_kernel(case: str) -> None:
    """They give its values; two key heads serve four heads."""
    dice = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(2, heads, 5, 7, generator=dice) for heads in (4, 2, 2))
    seen = torch.rand(2, 1, 5, 5, generator=dice) > 0.3
    given: dict[str, Any] = {"plain": {"scale": 0.3}, "causal": {"is_causal": True}}.get(case, {})
    if case == "booleans":
        given = {"attn_mask": seen | torch.eye(5).bool()}
    elif case == "numbers":
        given = {"attn_mask": torch.randn(2, 4, 5, 5, generator=dice)}
    weights = eager.fused_weights(q, k, v, **given, enable_gqa=True)
    kernel = nn.functional.scaled_dot_product_attention(q, k, v, **given, enable_gqa=True)
    assert (weights @ v.repeat_interleave(2, 1) - kernel).abs().max() < 1e-6


def test_a_type_whose_eager_attention_differs() -> None:
    row = tried(tiny.model_type("aimv2_text_model"))
    assert row.result == "exact"
    assert f"plain: {trying.DISAGREE}" in row.remarks
    assert row.checks["plain"] < AIM


def test_segments_of_several_items_in_order() -> None:
    maps = [torch.rand(1, 2, size, size) for size in (2, 3, 4)]
    calls = [eager.Call("here", "Attention", each) for each in maps]
    first = torch.stack([torch.block_diag(maps[0][0, h], maps[1][0, h]) for h in range(2)])
    assert judging.in_order([first, maps[2][0]], calls) == 0.0
    assert judging.in_order([first, maps[2][0].mT], calls) > 0.01
    assert judging.in_order([first], calls) == judging.in_order([maps[2][0]], calls) == torch.inf
    call = eager.Call("here", "Attention", torch.rand(2, 2, 9, 9))
    assert judging.in_order([first, maps[2][0]], [call]) == torch.inf


def test_rows_in_any_order() -> None:
    rows = torch.rand(2, 7, 5).softmax(-1)
    call = eager.Call("here", "Attention", rows[None])
    mixed = rows[:, [3, 1, 0, 2, 6, 5, 4]][..., [4, 0, 1, 3, 2]]
    assert judging.any_rows(mixed, [call]) < 1e-6
    assert judging.any_rows(mixed * 0.9, [call]) > 0.01


def test_a_refusal_names_what_has_weights() -> None:
    row, weights = Row("it"), torch.ones(1, 2, 3, 3) / 3
    hidden = eager.Seen(others=[eager.Call("here", "OwnAttention", weights)])
    through = eager.Seen(calls=[eager.Call("here", "OwnAttention", weights)])
    assert trying.refused(row, eager.Seen(), "has no attention layers").result == "refused"
    assert trying.refused(row, hidden, "It: OwnAttention computes").result == "refused"
    assert trying.refused(row, hidden, "has no attention layers").result == "broken"
    assert trying.refused(row, through, "It: OwnAttention computes").result == "broken"


class OwnAttention(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(x @ x.transpose(-1, -2), -1) @ x


def test_attention_beside_the_interface_is_seen(bert: tuple[nn.Module, nn.Module]) -> None:
    model: Any = bert[1]
    ids = torch.tensor([[5, 6, 7]])
    before = eager.eager(model, {"input_ids": ids})
    assert [call.kind for call in before.calls] == ["BertSelfAttention"] * 2
    assert [tuple(call.weights.shape) for call in before.calls] == [(1, 4, 3, 3)] * 2
    assert before.others == []
    model.embeddings.dropout = OwnAttention()
    after = eager.eager(model, {"input_ids": ids})
    assert [(call.path, call.kind) for call in after.others] == [
        ("embeddings.dropout", "OwnAttention")
    ]


# --- configs, inputs, pages -----------------------------------------------------------------------


def test_every_number_is_small(bert: tuple[nn.Module, nn.Module]) -> None:
    config: Any = bert[0].config
    assert (config.hidden_size, config.num_attention_heads, config.num_hidden_layers) == (64, 4, 2)
    assert config.vocab_size == tiny.VOCAB
    assert max(config.pad_token_id, config.eos_token_id or 0) < tiny.VOCAB
    assert sum(p.numel() for p in bert[0].parameters()) < 200_000


def test_widths_that_do_not_fit_stay_as_they_are() -> None:
    """A config whose numbers depend on one another is shrunk in depth alone."""
    kind = tiny.model_type("rt_detr")
    small: Any = tiny.tiny_config(kind)
    wide: Any = tiny.tiny_config(kind, widths=False)
    default: Any = kind.config()
    assert (small.d_model, wide.d_model) == (tiny.WIDTH, default.d_model)
    assert small.decoder_layers == wide.decoder_layers == tiny.LAYERS


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bark", "has no forward"),
        ("sam2_video", "runs over a video session"),
        ("sam_mask_decoder", "a part of another model type"),
        ("nougat", "no model class is found"),
    ],
)
def test_why_a_type_is_not_tried(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: {reason}"):
        tiny.model_type(name)


def test_padding_and_the_item_alone() -> None:
    ids = torch.arange(5, 27).view(2, 11)
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    for left in (False, True):
        shorter = padded(given, left=left)
        assert shorter is not None
        single = alone(shorter)
        assert single is not None
        own = ids[1:, 4:] if left else ids[1:, :7]
        assert torch.equal(single["input_ids"], own)
        assert bool(single["attention_mask"].all())
        assert torch.equal(shorter["input_ids"][0], ids[0])
    assert padded({"pixel_values": torch.ones(2, 3, 4, 4)}, left=False) is None


def test_the_page_and_the_summary(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = {"plain": 2e-7, "right": 3e-7, "bfloat16": 0.02}
    rows = [
        Row(
            "bert",
            "text encoders",
            "BertModel",
            "exact",
            "input_ids",
            checks,
            1e-6,
            2,
            named=("text",),
        ),
        Row("mamba", "text decoders", "MambaModel", "refused", "input_ids", reason="none"),
        Row("vit", "vision", "ViTModel", "broken", "pixel_values", attends=2, reason="differs"),
        Row("nougat", reason="no model class of its own"),
        Row("detr", reason="ImportError: TimmBackbone requires the timm library but it was not"),
    ]
    assert report.summary(rows) == (
        "3 tried (2 attend) / 1 exact (largest difference 3.0e-07) / 1 refused / 1 broken"
    )
    together = threads.Report(7, 3, 0.0, 0, ())
    page = report.document(rows, together)
    assert "| bert | BertModel | 2 | input_ids | text | prb | 3.0e-07 | 1.0e-06 | 2e-02 |" in page
    assert "## Refused" in page
    assert "## Broken" in page
    assert "- no model class of its own: nougat." in page
    assert "- needs timm, which is not installed: detr." in page
    monkeypatch.setattr(command, "tried_types", lambda *_: iter(rows))
    assert command.main(["--quiet"]) == 1
    assert report.summary(rows) in capsys.readouterr().out
    assert command.main(["--json", "--quiet"]) == 1
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 5
