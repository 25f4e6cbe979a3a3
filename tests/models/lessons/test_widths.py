"""Three widths: what an additive score keeps, and the one combination that cannot be compared."""

import pytest
import torch

from models.lessons.widths import KEYS, OF_KEY, OF_QUERY, VALUES, VECTOR, three_widths

QUERY = torch.tensor([0.3, -0.7])


@pytest.mark.parametrize("width", [1, 3])
def test_a_dot_product_needs_one_width(width: int) -> None:
    with pytest.raises(ValueError, match=f"expected keys of width 2, received {width}"):
        three_widths(QUERY, width, "dot")


def test_the_hidden_units_give_the_additive_scores() -> None:
    found = three_widths(QUERY, 3, "additive")
    assert found.hidden is not None
    assert torch.allclose(found.hidden, OF_QUERY @ QUERY + KEYS @ OF_KEY.T)
    assert torch.allclose(found.scores, found.hidden.tanh() @ VECTOR)
    assert torch.allclose(found.output, torch.softmax(found.scores, -1) @ VALUES, atol=1e-6)
