"""What every test shares: checked shapes, steady threads, and no silent skips."""

import gc
import os
import sys
from collections.abc import Generator
from typing import Any

import jaxtyping
import pytest

# Shapes and types of everything public in these packages are checked while the tests run.
# It must come before any of them is imported.
jaxtyping.install_import_hook(["models", "analysis", "train"], "beartype.beartype")

ALLOWED_SKIPS = ("CUDA", "MPS", "the package index")


def pytest_configure(config: pytest.Config) -> None:
    """Keep torch to two threads in all: the numbers repeat and a shared machine stays usable.

    Tests that run side by side inherit this from the process that starts them, so it must know:
    with two threads each they would wait for one another, five times as long as they work.
    """
    side_by_side = "PYTEST_XDIST_WORKER" in os.environ or config.getoption("numprocesses", None)
    os.environ.setdefault("OMP_NUM_THREADS", "1" if side_by_side else "2")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("MODELS", "small")  # nothing that a test starts fetches models


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and not in what stays: it would take a seventh of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture
def unchecked_shapes() -> Generator[None, None, None]:
    """For tests of thousands of steps through what other tests check: half of their time."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True)
def _same_random_numbers() -> None:
    """Start every test from the same random state: what passes once passes again."""
    if "torch" in sys.modules:
        import torch  # a page that a test left may still be importing it: this waits

        torch.manual_seed(0)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the machine lacks (a GPU) or the user wants left out; browser tests last.

    Last because Playwright keeps an event loop running from its first test on.

    Raises:
        pytest.UsageError: if the id of a test is another in each process.
    """
    for item in items:
        if " at 0x" in item.name:
            raise pytest.UsageError(f"give the cases of this test ids of their own: {item.nodeid}")
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    if os.environ.get("BROWSER") == "0":
        left_out = [item for item in items if item.get_closest_marker("browser")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)
    for name in ("cuda", "mps"):
        marked = [item for item in items if item.get_closest_marker(name)]
        if marked and not _has(name):
            reason = f"{name.upper()} is not available on this machine"
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def _has(device: str) -> bool:
    import torch

    if device == "cuda":
        return torch.cuda.is_available()
    return torch.backends.mps.is_available()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Count a skipped or expectedly failing test as failed, unless it lacks GPU or network."""
    report = yield
    return _refuse_skip(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole file that skips itself (importorskip)."""
    report = yield
    return _refuse_skip(report)


def _refuse_skip(report: Any) -> Any:
    if not report.skipped:
        return report
    reason = getattr(report, "wasxfail", None)
    if reason is None:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    if not reason.startswith(ALLOWED_SKIPS):
        report.outcome = "failed"
        report.longrepr = (
            f"only tests that need CUDA, MPS or a network may be skipped; this one: {reason!r}"
        )
    return report
