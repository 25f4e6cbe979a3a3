"""What a library passes to its attention: used, proved irrelevant, or refused by name."""

import pytest

from models.run import trace
from models.verify import verify
from tests.models.architectures import LATENT, text
from tests.models.pretrained.tiny import (
    CHOSEN_KEYS,
    build,
)


def test_keys_that_an_indexer_chooses_are_refused() -> None:
    """Sparse attention passes its choice beside the mask."""
    model = build("DeepseekV32ForCausalLM", "DeepseekV32Config", LATENT | CHOSEN_KEYS)
    for ask in (trace, verify):
        with pytest.raises(
            ValueError, match=r"Attention \(.*layers.0.*passes its attention indices"
        ):
            ask(model, text())
