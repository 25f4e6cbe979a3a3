"""What a card says of a model, held to the models' own configs."""

from pathlib import Path
from typing import Any

import pytest
import torch

from models.files.folder import Folder
from models.loading import summary
from models.request import Reads
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.smallest import SmallestConfig
from models.ssru import TranslatorConfig
from models.vit import ViTConfig
from tests.models.architectures import ARCHITECTURES, BY_NAME


def of(name: str):
    return load(BY_NAME[name].build())


@pytest.mark.parametrize("name", [each.name for each in ARCHITECTURES])
def test_layers_and_heads_are_those_that_attend(name: str) -> None:
    model = of(name)
    found = summary.parts(model)
    seen = trace(model, BY_NAME[name].inputs())
    by_name = {part.name: part for part in found}
    assert all(part.layers and part.dim for part in found)
    for site in seen.sites:
        assert site.layer < (by_name.get(site.tower or "", found[0]).layers or 0)
    if name == "Swin":  # the stages differ in heads: no single number is stated
        assert [(part.layers, part.heads) for part in found] == [(len(seen.sites), None)]
        return
    for site in seen.sites:
        assert site.heads == by_name.get(site.tower or "", found[0]).heads
    for site, pattern in zip(seen.sites, seen.patterns, strict=True):
        assert pattern.k.shape[1] == by_name.get(site.tower or "", found[0]).kv_heads


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("BERT", Reads(True, False, pair=True)),
        ("Llama", Reads(True, False)),
        ("ViT", Reads(False, True)),
        ("CLIP", Reads(True, True)),
        ("T5", Reads(True, False, target=True)),
        ("Whisper", Reads(False, False, sound=True, target=True)),
        ("wav2vec 2.0", Reads(False, False, sound=True)),
    ],
)
def test_what_a_model_reads(name: str, expected: Reads) -> None:
    assert summary.reads(of(name)) == expected


def test_networks_of_ours() -> None:
    minilm = load("minilm")
    assert summary.parts(minilm) == (summary.Part("", 6, 12, 12, 384, 1536, "learned", 512),)
    assert summary.reads(minilm) == Reads(True, False, pair=True)
    assert summary.weights_bytes(minilm) == sum(4 * p.numel() for p in minilm.network.parameters())
    pair = load(Seq2SeqConfig(dim=21, heads=3, depth=2, mlp=13, d_k=7, d_v=7))
    assert [part.name for part in summary.parts(pair)] == ["encoder", "decoder"]
    assert summary.reads(pair).target
    assert summary.reads(load(ViTConfig(image=16, patch=4, dim=20, heads=5))).image


def test_half_precision_takes_half() -> None:
    whole, half = (load("minilm", dtype=kind) for kind in (torch.float32, torch.bfloat16))
    assert summary.weights_bytes(whole) == 2 * summary.weights_bytes(half)


@pytest.mark.parametrize(
    ("readme", "licence"),
    [
        ("---\nlicense: apache-2.0\ntags: [a]\n---\n# Hi", "apache-2.0"),
        ("---\ntags: [a]\n---\nlicense: mit", None),
        ("license: mit", None),
        ("---\nlicense: 'cc-by-4.0'\n---", "cc-by-4.0"),
    ],
)
def test_the_licence_is_in_the_head_of_the_readme(
    readme: str, licence: str | None, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text(readme)
    assert summary.licence(Folder.at(tmp_path)) == licence


def test_positions() -> None:
    known = {
        "BERT": "absolute",
        "GPT-2": "absolute",
        "Llama": "rotary",
        "T5": "relative, in buckets",
    }
    assert {name: summary.parts(of(name))[0].positions for name in known} == known
    for config, positions in ((SmallestConfig(), "none"), (TranslatorConfig(), "sinusoidal")):
        assert {part.positions for part in summary.parts(load(config))} == {positions}


def test_sizes_that_a_config_states_in_its_own_way() -> None:
    dino: Any = BY_NAME["DINOv2"].build()
    (part,) = summary.parts(load(dino))
    assert part.mlp == dino.encoder.layer[0].mlp.fc1.out_features
    whisper: Any = BY_NAME["Whisper"].build()
    limits = whisper.config.max_source_positions, whisper.config.max_target_positions
    assert tuple(part.max_tokens for part in summary.parts(load(whisper))) == limits
