"""The registry computes once, evicts what was used least recently, and gives no id away."""

import gc
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from models.encoder import EncoderConfig
from models.run import load, trace
from viz.api.entries import TraceEntry
from viz.api.registry import GoneError, Held, Registry

MANY = 8  # threads


class CountedKey:
    """A key that knows how many have asked for its result."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)

    def __hash__(self) -> int:
        self.asked.release()
        return 7

    def wait_for(self, count: int) -> None:
        """Until so many have asked, and had time to find that the result is being computed."""
        for _ in range(count):
            assert self.asked.acquire(timeout=30)
        time.sleep(0.2)


def together(work: Callable[[int], Any]) -> list[Any]:
    """The results of `work` in many threads that begin at the same moment."""
    ready = threading.Barrier(MANY)

    def begin(number: int) -> Any:
        ready.wait(30)
        return work(number)

    with ThreadPoolExecutor(MANY) as threads:
        return list(threads.map(begin, range(MANY)))


def test_many_who_ask_at_once_get_one_computation() -> None:
    registry, key, made = Registry(), CountedKey(), []

    def make() -> str:
        key.wait_for(MANY)
        made.append(1)
        return "result"

    found = together(lambda number: registry.once(key, make))
    assert len(made) == 1
    assert {id(held) for held in found} == {id(found[0])}
    assert found[0].value == "result"


def test_a_failure_is_not_kept() -> None:
    registry = Registry()

    def fail() -> str:
        raise ValueError("heads must divide dim")

    for _ in range(2):
        with pytest.raises(ValueError, match="divide"):
            registry.once("key", fail)
    assert registry.once("key", lambda: "now").value == "now"


def test_an_interruption_is_not_passed_on_to_who_waits() -> None:
    """Streamlit stops a script with an exception that is no `Exception`."""
    registry, key, begun = Registry(), CountedKey(), threading.Event()

    def interrupted() -> str:
        begun.set()
        key.wait_for(2)
        raise KeyboardInterrupt

    def first() -> str:
        with pytest.raises(KeyboardInterrupt):
            registry.once(key, interrupted)
        return "interrupted"

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(first)
        begun.wait(30)
        other = threads.submit(lambda: registry.once(key, lambda: "result").value)
        assert (one.result(30), other.result(30)) == ("interrupted", "result")


def test_nobody_can_compute_an_id_and_what_is_computed_again_gets_another() -> None:
    registry, other = Registry(), Registry()
    before = registry.once("key", lambda: "value")
    registry.evict(before.id)
    after = registry.once("key", lambda: "value")
    assert len({before.id, after.id, other.once("key", lambda: "value").id}) == 3
    assert len(before.id) == 24  # 144 bits
    assert registry.get(after.id) is after


def plain(max_bytes: int, **limits: int) -> Registry:
    """A registry that counts only what results hold."""
    return Registry(max_bytes, overhead=0, **limits)


def held_in(registry: Registry, held: list[Held]) -> list[int]:
    return [number for number, each in enumerate(held) if each.id in registry._ids]


def bytes_in(registry: Registry, kind: str = "object") -> int:
    """What all results keep alive, each piece once."""
    kept = {p: size for each in registry._held.values() for p, size in each.pieces.items()}
    return sum(size for piece, size in kept.items() if piece.kind == kind)


def test_the_least_recently_used_is_evicted() -> None:
    registry = plain(3 * 7)
    held = [registry.once(number, lambda: bytearray(7)) for number in range(3)]
    registry.get(held[0].id)
    held.append(registry.once("fourth", lambda: bytearray(7)))
    assert held_in(registry, held) == [0, 2, 3]
    with pytest.raises(GoneError):
        registry.get(held[1].id)


def child_of(parent: Held, registry: Registry) -> Held:
    return registry.once(("view", parent.id), lambda: bytearray(1), parent)


def test_what_refers_to_an_evicted_result_goes_with_it() -> None:
    registry = Registry()
    trace = registry.once("trace", lambda: b"t")
    view = child_of(trace, registry)
    registry.evict(trace.id)
    for id in (trace.id, view.id):
        with pytest.raises(GoneError):
            registry.get(id)


def test_a_view_never_pushes_out_its_own_trace() -> None:
    registry = plain(10)
    trace = registry.once("trace", lambda: bytearray(13))
    view = child_of(trace, registry)
    assert registry.get(view.id) is view
    assert registry.get(trace.id) is trace


def test_a_view_of_an_evicted_trace_is_not_mistaken_for_one_of_its_successor() -> None:
    registry = Registry()
    trace = registry.once("trace", lambda: b"t")
    registry.evict(trace.id)
    late = child_of(trace, registry)
    again = registry.once("trace", lambda: b"t")
    assert child_of(again, registry) is not late


def test_many_threads_leave_the_books_in_order() -> None:
    registry = plain(1009)

    def work(number: int) -> None:
        for step in range(211):
            trace = registry.once((number * step) % 31, lambda: bytearray(97))
            child_of(trace, registry)
            if step % 5 == 0:
                registry.evict(trace.id)

    together(work)
    assert bytes_in(registry) <= 1009
    assert registry._turns == {}


def test_a_result_is_expected_as_long_as_anybody_computes_it() -> None:
    registry = Registry()
    with registry.expecting("key") as one:
        with registry.expecting("key") as other:
            assert other is one
        assert registry.get(one.id) is one
        assert not one.settled.done()
        assert registry.once("key", lambda: "result") is one
        assert (one.value, one.settled.result(0)) == ("result", True)
    assert registry.get(one.id) is one
    with registry.expecting("key") as found:
        assert found is one
    with registry.expecting("failing") as failed:
        pass
    assert failed.settled.result(0) is False
    with pytest.raises(GoneError):
        registry.get(failed.id)


def clicked(registry: Registry, width: int, seed: int) -> Any:
    """Holds a network, a trace of it and its view, as the app does; a weak reference to it."""
    config = EncoderConfig(vocab=31, dim=width, heads=2, depth=1, mlp=13, seed=seed)
    opened = registry.once(("model", width, seed), lambda: load(config))
    traced_in(registry, opened, 3)
    return weakref.ref(opened.value.network)


def traced_in(registry: Registry, opened: Held, token: int) -> Held:
    """The view of a trace of a network."""
    key = opened.id, token
    ids = torch.tensor([[3, 5, token]])
    held = registry.once(("trace", key), lambda: trace(opened.value, ids), parent=opened)
    return registry.once(("view", key), lambda: [held.value], parent=held)


def alive(networks: list[Any]) -> list[int]:
    gc.collect()
    return [number for number, network in enumerate(networks) if network() is not None]


def test_networks_that_results_keep_alive_are_counted() -> None:
    networks = [clicked(registry := Registry(), 10, 0)]
    size = bytes_in(registry, "network")
    assert size > sum(each.nbytes for each in networks[0]().parameters())
    registry = Registry(max_network_bytes=5 * size + 1)
    networks = [clicked(registry, 10, seed) for seed in range(23)]
    assert alive(networks) == [*range(18, 23)]
    assert len(registry._held) == 3 * 5  # with their traces and views


def test_a_network_is_not_evicted_for_the_room_of_its_results() -> None:
    registry = plain(1)
    opened = registry.once("model", lambda: load(EncoderConfig(vocab=31, dim=10, heads=2, depth=1)))
    held = [traced_in(registry, opened, token) for token in range(3)]
    assert held_in(registry, [opened, *held]) == [0, 3]


def test_answers_are_kept_with_their_result_and_count_what_they_add() -> None:
    registry = plain(20_000)
    shown: Any = bytearray(10_000)
    entry = TraceEntry(shown)
    assert entry.answers.once("numbers", lambda: "of one's own") == "of one's own"
    held = registry.once("entry", lambda: entry)
    alone = registry.once("alone", lambda: bytearray(5_000))
    assert entry.answers.once("numbers", lambda: (shown, bytearray(9_000)))[1]
    assert entry.answers.once("numbers", lambda: pytest.fail("known"))
    assert 19_000 <= bytes_in(registry) < 20_000  # what is shared counts once
    assert held_in(registry, [held, alone]) == [0]  # the other was used before
    registry.evict(held.id)
    assert entry.answers.once("numbers", lambda: "anew") == "anew"


def test_who_waits_for_a_result_can_give_up() -> None:
    registry, began, go = Registry(), threading.Event(), threading.Event()

    def make() -> str:
        began.set()
        go.wait(30)
        return "result"

    class StopError(Exception):
        pass

    def stop() -> None:
        raise StopError

    with ThreadPoolExecutor(1) as threads:
        computed = threads.submit(lambda: registry.once("key", make))
        assert began.wait(30)
        with pytest.raises(StopError):
            registry.once("key", make, meanwhile=stop)
        go.set()
        assert computed.result().value == "result"
