"""A test that skips itself proves nothing: the session must say so and fail."""

from pathlib import Path

import pytest

pytest_plugins = "pytester"

CASES = """
import pytest

def test_passes():
    pass

def test_skips():
    pytest.skip("no time")

@pytest.mark.skip(reason="CUDA is not available on this machine")
def test_needs_a_gpu():
    pass

@pytest.mark.xfail(reason="known to fail")
def test_expected_to_fail():
    raise ValueError
"""


@pytest.fixture
def session(pytester: pytest.Pytester) -> pytest.Pytester:
    """An empty project that uses our conftest.py."""
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers =\n    browser\n    cuda\n    mps\n")
    return pytester


def test_only_a_missing_gpu_may_skip(session: pytest.Pytester) -> None:
    session.makepyfile(CASES)
    result = session.runpytest_subprocess()
    result.assert_outcomes(passed=1, skipped=1, failed=2)
    result.stdout.fnmatch_lines(["*only tests that need CUDA, MPS or a network*'no time'*"])


def test_a_file_may_not_skip_itself(session: pytest.Pytester) -> None:
    session.makepyfile("import pytest\n\npytest.importorskip('no_such_module')\n")
    result = session.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    assert result.ret != 0


def test_browser_tests_can_be_left_out(
    session: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.makepyfile(
        "import pytest\n\n@pytest.mark.browser\ndef test_a(): pass\n\ndef test_b(): pass"
    )
    monkeypatch.setenv("BROWSER", "0")
    session.runpytest_subprocess().assert_outcomes(passed=1, deselected=1)
    monkeypatch.delenv("BROWSER")
    session.runpytest_subprocess().assert_outcomes(passed=2)


@pytest.mark.parametrize(("more", "threads"), [((), 2), (("-n", "2"), 1)])
def test_two_threads_in_all(
    more: tuple[str, ...], threads: int, session: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.makepyfile(
        f"import os\n\ndef test_a(): assert os.environ['OMP_NUM_THREADS'] == '{threads}'"
    )
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # of this very test
    session.runpytest_subprocess(*more).assert_outcomes(passed=1)
