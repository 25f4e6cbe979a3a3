"""Results in a notebook: pictures of every head, one line each, and nothing that is run."""

import re

import numpy as np
import pytest
import torch
from PIL import Image

import headscope as hs

MODEL = hs.load(hs.EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13))


def test_a_trace_is_its_heads_and_its_text_is_escaped() -> None:
    t = hs.trace(MODEL, "a <script>b</script> c")
    html = t._repr_html_()
    assert "<script" not in html
    assert "&lt; · script" in html
    assert html.count("data:image/png;base64,") == 1
    assert "a layer a row, a head a column" in html


def test_tables_and_verdicts_are_read_as_they_are() -> None:
    t = hs.trace(MODEL, "a b a")
    assert hs.heads(t)._repr_html_().count("<tr>") == 2 * 3
    verdict = hs.verify(MODEL, "a b a")
    assert verdict._repr_html_().startswith("<div><b>The weights are those that the model used")


def test_each_repr_is_one_line_without_numbers_of_tensors() -> None:
    decoder = hs.load(hs.DecoderConfig(vocab=31, dim=12, heads=2, depth=3))
    t = hs.trace(decoder, "a b a", hidden=True)
    values = (
        *(t, t.tokens[0], t.pattern(1), t.output, t.projections(1), hs.heads(t)),
        *(hs.split(t, 1, 0, 2, 1), hs.explain(decoder, "a b", method="chefer")),
        hs.state_sweep(decoder, "a b", "a c", measure=hs.Logit(5)),
        hs.faithfulness(MODEL, "a b c d e", torch.rand(5), target="b a"),
        hs.verify(MODEL, "a b a"),
    )
    for each in values:
        assert re.fullmatch(rf"{type(each).__name__}\((?!.*tensor\()[^\n]{{1,699}}", repr(each))
    assert f"q={' × '.join(map(str, t.pattern(1).q.shape))}, k=" in repr(t.pattern(1))
    assert "temperature" not in repr(t.pattern(1))  # none is set


def test_an_array_is_a_picture() -> None:
    vit = hs.load(hs.ViTConfig(image=32, patch=8, dim=24, heads=3, depth=2))
    pixels = np.random.default_rng(3).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    mine, theirs = hs.trace(vit, pixels), hs.trace(vit, Image.fromarray(pixels))
    assert mine.output.values.equal(theirs.output.values)


def test_a_dtype_has_a_name() -> None:
    config = hs.EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13)
    weights = hs.load(config, dtype="bfloat16").network.parameters()
    assert {each.dtype for each in weights} == {torch.bfloat16}
    with pytest.raises(ValueError, match=r"dtype: expected .* received 'bf16'"):
        hs.load(config, dtype="bf16")
