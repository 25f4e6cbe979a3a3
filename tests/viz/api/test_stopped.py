"""A request that is stopped, or whose visitor left, computes nothing more."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from urllib.parse import parse_qsl

import pytest

from models.request import Source, TraceRequest
from viz.api import pool, tracing
from viz.api.endpoint import work_of
from viz.api.entries import TraceEntry
from viz.api.pool import FairPool, StoppedError
from viz.api.registry import Held, Registry
from viz.routes import ENDPOINTS

PASSES = [  # questions for whose answers the model runs more than once
    "faithfulness?method=chefer",
    "matters?site=0&top=3",
    "patched?second=a b c d a b d&top=3",
    "written?count=5",
    "blame",
    "ranks?output=0.2&lens=jacobian",
]


@pytest.fixture
def source() -> Source:
    return tracing.of_catalogue("induction")


@pytest.fixture
def held(source: Source) -> Iterator[Held[TraceEntry]]:
    found = tracing.entry_for(TraceRequest(source, "a b c d a b c"))
    yield found
    tracing.registry.evict(found.id)


@pytest.mark.parametrize("path", PASSES)
def test_no_pass_begins_once_a_request_is_stopped(
    source: Source, held: Held[TraceEntry], path: str
) -> None:
    name, _, query = path.partition("?")
    _, work = work_of(ENDPOINTS, held.value, name, parse_qsl(query))
    passes: list[Any] = []

    async def test() -> None:
        request = asyncio.ensure_future(FairPool(workers=1).run("visitor", work))

        def leave(*_: Any) -> None:
            job = pool._current.get()
            assert job is not None
            job.stopped = True
            passes.append(job)

        hook = tracing.opened(source).network.register_forward_pre_hook(leave)
        with pytest.raises(StoppedError):
            await request
        hook.remove()

    asyncio.run(asyncio.wait_for(test(), 60))
    assert len(passes) == 1


def test_who_waits_for_what_a_stopped_request_computed_gets_it_all_the_same() -> None:
    registry, began, go = Registry(), Event(), Event()

    def stopped() -> str:
        began.set()
        assert go.wait(30)
        raise StoppedError

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(lambda: registry.once("key", stopped))
        assert began.wait(30)
        other = threads.submit(lambda: registry.once("key", lambda: "result").value)
        go.set()
        with pytest.raises(StoppedError):
            first.result(30)
        assert other.result(30) == "result"
