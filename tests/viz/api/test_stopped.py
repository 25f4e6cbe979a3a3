"""A request that is stopped, or whose visitor left, computes nothing more."""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest

from models.request import Source, TraceRequest
from viz.api import pool, tracing
from viz.api.endpoint import work_of
from viz.api.entries import TraceEntry
from viz.api.pool import Pool, StoppedError
from viz.api.registry import Held

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
    _, work = work_of(held.value, name, parse_qsl(query))
    passes: list[Any] = []

    async def test() -> None:
        request = asyncio.ensure_future(Pool(workers=1).run("visitor", work))

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
