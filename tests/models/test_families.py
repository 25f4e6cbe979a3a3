"""Every family of transformers against the library's own eager attention.

Each head of a type is built tiny; its maps and output are compared over a batch that is whole,
padded on the right and padded on the left (`benchmarks.coverage`). One type of each mechanism of
attention is tried in every run of the tests, with its network alone.
"""

import warnings
from itertools import islice

import pytest

from benchmarks.coverage.__main__ import tried
from benchmarks.coverage.families import FAMILIES

MECHANISMS = (
    "bert albert modernbert",  # padding, shared blocks, windows to both sides
    "gpt2 gpt_neox llama mistral gemma2 gpt_oss deepseek_v3 qwen3_next llama4_text jamba lfm2",
    "t5 bart m2m_100 whisper moonshine",  # position biases, keys of another tower, frames
    "vit dinov2_with_registers vit_mae swin swinv2 segformer detr deformable_detr sam videomae",
    "clip llava qwen2_5_vl qwen3_vl mllama florence2 idefics3 kosmos-2",
    "wav2vec2 audio-spectrogram-transformer donut encoder-decoder",
)
FIRST = [name for names in MECHANISMS for name in names.split()]
EVERY = [name for names in FAMILIES.values() for name in names.split()]


def wrong(name: str, heads: int | None) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library, about tiny sizes
        rows = [*islice(tried(name), heads)]
    assert rows
    return [f"{row.head}: {row.result} {row.reason}" for row in rows if row.result != "traced"]


@pytest.mark.parametrize("name", FIRST)
def test_a_mechanism(name: str) -> None:
    assert wrong(name, 1) == []


@pytest.mark.long
@pytest.mark.parametrize("name", EVERY)
def test_every_head_of_a_family(name: str) -> None:
    assert wrong(name, None) == []
