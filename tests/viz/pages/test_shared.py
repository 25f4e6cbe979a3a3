"""Forward passes of all users take turns, and who waits for one can give up."""

from collections.abc import Iterator

import pytest

from models.run import Model, load
from models.smallest import SmallestConfig
from viz.api import tracing
from viz.pages import shared


class StopError(Exception):
    pass


@pytest.fixture
def model() -> Model:
    return load(SmallestConfig(vocab=7, dim=5))


@pytest.fixture
def others() -> Iterator[None]:
    """As many passes of others as may run at once."""
    with tracing.forward_pass(load(SmallestConfig(vocab=7, dim=5))):
        tracing._FORWARDS.acquire()
        yield
        tracing._FORWARDS.release()


@pytest.mark.usefixtures("others")
def test_a_page_that_waits_for_a_pass_can_be_stopped(model: Model) -> None:
    told = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        raise StopError

    with pytest.raises(StopError), tracing.forward_pass(model, meanwhile=shared.waiting(progress)):
        pytest.fail("expected it to wait")
    assert told == [(0, 0)]
    assert not tracing._FORWARDS.acquire(blocking=False)  # the passes of others go on
