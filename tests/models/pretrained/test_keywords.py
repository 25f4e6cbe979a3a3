"""What a library passes to its attention: used, proved irrelevant, or refused by name."""

import threading
from typing import Any

import pytest
import torch

from models.run import trace
from models.verify import verify
from tests.models.architectures import LATENT, text
from tests.models.pretrained.tiny import (
    CHOSEN_KEYS,
    build,
    images_in_text,
    qwen,
)


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
