"""What the API says where a lens, parts of a logit or blame do not apply."""

from typing import Any

import torch

from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from tests.viz.api.asking import ask
from viz.api.entries import TraceEntry

SIZES: dict[str, Any] = {"dim": 21, "depth": 2, "heads": 3, "mlp": 17, "vocab": 31}
IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])


def entry_of(config: Any, given: Any = IDS, written: Any = None) -> TraceEntry:
    model = load(config)
    shown = trace(model, given, written)
    return TraceEntry(shown, opened=lambda: (model, given, written))


def test_one_sentence_says_why() -> None:
    sizes: dict[str, Any] = {"source_vocab": 31, "target_vocab": 31, "dim": 10, "heads": 2}
    config = Seq2SeqConfig(**sizes, depth=2, mlp=13, d_k=5, d_v=5)
    pair = entry_of(config, IDS, torch.arange(5, 9)[None])
    assert "expected no encoder–decoder" in ask(pair, "blame")["why"]
    assert "there is no" not in str(ask(pair, "refused"))
    states = entry_of(EncoderConfig(**SIZES))
    reasons = ask(states, "refused")
    assert set(reasons) == {"lens"}  # of a state, heads that move it are swept in "parts"
    assert "why" in ask(states, "lens", 0)
    assert "why" in ask(states, "parts")
    assert "why" in ask(states, "blame")
    bare = TraceEntry(states.trace)
    assert "run=(model, input)" in ask(bare, "blame")["why"]
