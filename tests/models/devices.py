"""The devices a test runs on: the processor, and CUDA and MPS where they are."""

import pytest

DEVICES = (
    "cpu",
    pytest.param("cuda", marks=pytest.mark.cuda),
    pytest.param("mps", marks=pytest.mark.mps),
)
