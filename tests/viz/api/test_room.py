"""The state of rooms: who may change what, who sees what, and what is bounded."""

import asyncio
import re
from contextlib import ExitStack

import pytest

from viz.api import room
from viz.api.pool import BusyError
from viz.api.registry import UnknownError
from viz.api.requests import QuestionError
from viz.api.room import KeyRefusedError, Room, Rooms, Screen


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(clock)


@pytest.fixture
def opened(rooms: Rooms) -> Room:
    return rooms.open(Screen("scale", 1, 5))


def asked(opened: Room) -> int:
    opened.ask(opened.key, "Why?", ("yes", "no", "both"))
    assert opened.question is not None
    return opened.question.number


def test_codes_and_keys_cannot_be_guessed(rooms: Rooms, clock: Clock) -> None:
    made = []
    for _ in range(20):
        clock.now += 60
        made.append(rooms.open(Screen("scale", 0, 0)))
    assert len({each.code for each in made}) == len({each.key for each in made}) == 20
    assert all(re.fullmatch(f"[{room.LETTERS}]{{8}}", each.code) for each in made)
    assert len(room.LETTERS) ** room.CODE > 5e11
    assert not set(room.LETTERS) & set("0o1li")
    assert all(len(each.key) >= 32 and each.code not in each.key for each in made)


def test_a_follower_sees_where_the_presenter_is_and_not_who_follows(opened: Room) -> None:
    follower, presenter = opened.join(), opened.join(opened.key)
    opened.show(opened.key, Screen("heads", 2, 3))
    place = {"page": "heads", "step": 2, "steps": 3}
    here = {**place, "figure": "", "elsewhere": False, "question": None}
    assert opened.seen_by(follower) == here
    assert opened.seen_by(presenter) == {**here, "followers": 0}
    with opened.listening(follower), opened.listening(follower), opened.listening(presenter):
        assert opened.seen_by(presenter)["followers"] == 1
    assert opened.seen_by(presenter)["followers"] == 0


def test_answers_are_counted_once_for_each_follower(opened: Room) -> None:
    presenter, *followers = opened.join(opened.key), *(opened.join() for _ in range(7))
    number = asked(opened)
    for follower, choice in zip(followers, [0, 1, 1, 2, 1, 0, 0], strict=True):
        opened.answer(follower, number, choice)
    opened.answer(followers[0], number, 2)  # has changed its mind
    assert opened.seen_by(presenter)["question"]["counts"] == [2, 3, 2]
    seen = opened.seen_by(followers[0])["question"]
    assert (seen["counts"], seen["answer"], seen["revealed"]) == (None, 2, False)
    opened.reveal(opened.key)
    assert opened.seen_by(followers[1])["question"]["counts"] == [2, 3, 2]
    with pytest.raises(QuestionError, match="open"):
        opened.answer(followers[0], number, 0)


def test_an_answer_is_to_the_question_that_is_open(opened: Room) -> None:
    follower = opened.join()
    with pytest.raises(QuestionError, match="open"):
        opened.answer(follower, 1, 0)
    first = asked(opened)
    second = asked(opened)
    with pytest.raises(QuestionError, match="open"):
        opened.answer(follower, first, 0)
    with pytest.raises(QuestionError, match="choice"):
        opened.answer(follower, second, 3)
    with pytest.raises(QuestionError, match="follower"):
        opened.answer(opened.join(opened.key), second, 0)
    with pytest.raises(UnknownError):
        opened.answer("stranger", second, 0)
    opened.dismiss(opened.key)
    assert opened.seen_by(follower)["question"] is None
    with pytest.raises(QuestionError, match="asked"):
        opened.reveal(opened.key)


@pytest.mark.parametrize("key", ["", "wrong", "clé"])
def test_without_the_key_nothing_changes(opened: Room, key: str) -> None:
    follower = opened.join()
    before = opened.seen_by(follower)
    for change in (
        lambda: opened.join(key),
        lambda: opened.show(key, Screen("heads", 0, 0)),
        lambda: opened.ask(key, "", ("a", "b")),
        lambda: opened.reveal(key),
        lambda: opened.dismiss(key),
        lambda: opened.end(key),
    ):
        with pytest.raises(KeyRefusedError):
            change()
    assert opened.open
    assert opened.seen_by(follower) == before


def test_a_closed_room_is_gone(rooms: Rooms, opened: Room) -> None:
    assert rooms.get(opened.code) is opened
    opened.end(opened.key)
    with pytest.raises(UnknownError):
        rooms.get(opened.code)
    assert not rooms.rooms


def test_a_room_is_closed_after_hours_without_anybody(
    rooms: Rooms, opened: Room, clock: Clock
) -> None:
    follower = opened.join()
    with opened.listening(follower):
        clock.now += 2 * room.IDLE_SECONDS
        assert rooms.get(opened.code) is opened
    clock.now += room.IDLE_SECONDS - 1
    assert rooms.get(opened.code) is opened
    clock.now += 2
    with pytest.raises(UnknownError):
        rooms.get(opened.code)
    assert not opened.open


def test_there_are_only_so_many_rooms(rooms: Rooms, clock: Clock) -> None:
    with ExitStack() as rest, ExitStack() as first:
        for number in range(room.ROOMS):
            clock.now += 2
            held = rooms.open(Screen("scale", 0, 0))
            (rest if number else first).enter_context(held.listening(held.join(held.key)))
        with pytest.raises(BusyError):
            rooms.open(Screen("scale", 0, 0))
        left = next(iter(rooms.rooms.values()))
        first.close()
        clock.now += 100
        made = rooms.open(Screen("scale", 0, 0))  # in place of the one left behind
    assert made.code in rooms.rooms
    assert left.code not in rooms.rooms


def test_there_are_only_so_many_followers(opened: Room, clock: Clock) -> None:
    first = opened.join()
    rest = []
    for _ in range(room.FOLLOWERS - 1):
        clock.now += 1
        rest.append(opened.join())
    with ExitStack() as listening:
        for name in rest:
            listening.enter_context(opened.listening(name))
        clock.now += 1
        last = opened.join()  # in place of the one who does not listen
        with pytest.raises(UnknownError):
            opened.member(first)
        listening.enter_context(opened.listening(last))
        with pytest.raises(BusyError):
            opened.join()


def test_nobody_does_too_much_at_once(rooms: Rooms, opened: Room, clock: Clock) -> None:
    follower, number = opened.join(), asked(opened)

    def until_refused(act, most: int) -> int:
        for done in range(most):
            try:
                act()
            except BusyError:
                return done
        raise AssertionError("never refused")

    assert until_refused(lambda: opened.answer(follower, number, 0), 100) == 20
    assert until_refused(lambda: opened.show(opened.key, Screen("scale", 0, 5)), 100) == 39
    assert until_refused(lambda: rooms.open(Screen("scale", 0, 0)), 100) == 9
    clock.now += 1
    assert until_refused(lambda: opened.answer(follower, number, 0), 100) == 5
    assert until_refused(lambda: opened.show(opened.key, Screen("scale", 0, 5)), 100) == 20


def test_who_waits_is_woken_by_a_change(opened: Room) -> None:
    async def test() -> None:
        assert not await opened.change(0.001)
        waiting = [asyncio.ensure_future(opened.change(30)) for _ in range(3)]
        await asyncio.sleep(0)
        opened.show(opened.key, Screen("heads", 0, 0))
        assert await asyncio.gather(*waiting) == [True] * 3

    asyncio.run(asyncio.wait_for(test(), 20))


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("0", False), ("", False)])
def test_rooms_are_there_on_request(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    monkeypatch.setenv("ROOM", value)
    assert room.is_open() is expected
