"""The forward benchmark: that what it compares computes the same, and its peak of memory."""

import subprocess
import sys

import pytest

from benchmarks import memory, subjects


def test_forms_that_differ_are_not_timed() -> None:
    forms, ids = subjects.build(layers=1), subjects.draw_ids(23)
    assert max(subjects.compare(forms, ids).values()) < subjects.CLOSE
    weights = forms["traced"](ids).weights(0)
    assert float((weights[3] - weights[5]).abs().max()) > 0.1
    other = {**forms, "fused": lambda ids: forms["fused"](ids.flip(1))}
    with pytest.raises(RuntimeError, match="fused output"):
        subjects.compare(other, ids)


def test_the_peak_rises_by_what_was_held_for_a_moment() -> None:
    code = "from benchmarks.memory import rise_of; print(rise_of(lambda: b'x' * 2**26))"
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=memory.ROOT, capture_output=True, text=True, check=True)
    # the kernel counts pages in batches, a processor at a time; the interpreter's own come on top
    assert 2**26 - 2 * memory.MIB < int(ran.stdout) < 2**26 + 8 * memory.MIB
