"""What a library passes to its attention: used, proved irrelevant, or refused by name."""

import threading
from typing import Any

import pytest
import torch
from transformers import AttentionInterface

from models.pretrained import interface
from models.pretrained.interface import IRRELEVANT
from models.run import trace
from models.verify import verify
from tests.models.architectures import text
from tests.models.pretrained.tiny import (
    BY_NAME,
    CHOSEN_KEYS,
    LATENT,
    build,
    images_in_text,
    qwen,
)


@pytest.mark.parametrize("name", ["BERT", "Llama", "Gemma 2", "GPT-OSS", "T5", "Whisper", "BART"])
def test_nothing_that_matters_is_ignored(name: str) -> None:
    """Whatever is ignored is nothing, or no part of the library's eager attention."""
    assert not IRRELEVANT & {"softcap", "s_aux", "sinks", "position_bias", "is_causal"}
    assert not IRRELEVANT & {"indices", "block_indices", "cu_seq_lens_q", "cache"}
    given: list[dict[str, Any]] = []
    used = interface._attention

    def noted(*args: Any, **keywords: Any) -> Any:
        given.append(keywords)
        return used(*args, **keywords)

    AttentionInterface.register(interface.NAME, noted)
    try:
        trace(BY_NAME[name].build(), BY_NAME[name].inputs())
    finally:
        AttentionInterface.register(interface.NAME, used)
    known = IRRELEVANT | {"scaling", "dropout", "softcap", "s_aux", "position_bias", "is_causal"}
    assert given
    assert not {n for call in given for n, value in call.items() if value is not None} - known


def test_keys_that_an_indexer_chooses_are_refused() -> None:
    """Sparse attention passes its choice beside the mask."""
    model = build("DeepseekV32ForCausalLM", "DeepseekV32Config", LATENT | CHOSEN_KEYS)
    for ask in (trace, verify):
        with pytest.raises(
            ValueError, match=r"Attention \(.*layers.0.*passes its attention indices"
        ):
            ask(model, text())


def test_packed_images_of_another_thread() -> None:
    """Outside of the trace, images that are packed attend apart, as ever."""
    network, given = qwen("Qwen2VL"), images_in_text()
    with torch.no_grad():
        expected, seen = network(**given).logits, []

    def meanwhile(*_: Any) -> None:
        thread = threading.Thread(target=lambda: seen.append(network(**given).logits))
        if not seen:
            seen.append(None)
            thread.start()
            thread.join()

    inside = next(m for m in network.modules() if isinstance(m, torch.nn.Linear))
    hook = inside.register_forward_hook(meanwhile)
    trace(network, given)
    hook.remove()
    assert (seen[1] - expected).abs().max() < 1e-5
