"""Rooms: one person presents a lesson, others follow it, and answer questions.

All state lives in this process and on its event loop, so nothing here needs a lock. A room is known
by a code, which its link carries, and changed with a key, which only the presenter's browser has.
"""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from viz.api.pool import BusyError
from viz.api.registry import UnknownError
from viz.api.requests import ForeignError, QuestionError

PARAM = "room"  # of a link: the code
ROOMS = 32
FOLLOWERS = 300  # of one room
IDLE_SECONDS = 4 * 3600.0  # after which a room nobody listens to is closed
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another on a projector
CODE = 8  # letters: 8e11 codes
Clock = Callable[[], float]


class KeyRefusedError(ForeignError):
    """A change to a room by somebody who does not present in it."""


class Bucket:
    """A limit on how often something may happen.

    Args:
        burst: how often at once.
        per_second: how often in the long run.
        clock: seconds from any origin.
    """

    def __init__(self, burst: float, per_second: float, clock: Clock) -> None:
        self.burst, self.per_second, self.clock = burst, per_second, clock
        self.left, self.at = burst, clock()

    def take(self) -> None:
        """Counts one event.

        Raises:
            BusyError: it is one too many.
        """
        now = self.clock()
        self.left = min(self.burst, self.left + (now - self.at) * self.per_second)
        self.at = now
        if self.left < 1:
            raise BusyError
        self.left -= 1


@dataclass(frozen=True)
class Screen:
    """What the presenter shows.

    Attributes:
        page: name of a lesson.
        step: from 0.
        steps: how many the lesson has; 0 if it has none.
        figure: the inputs of its figure, as the browser writes them in a link.
        elsewhere: whether the presenter has gone from there to a page that is no lesson.
    """

    page: str
    step: int
    steps: int
    figure: str = ""
    elsewhere: bool = False


@dataclass
class Question:
    """A question to the followers.

    Attributes:
        number: of the question within its room.
        text: may be empty: it was asked aloud.
        choices: labels of the answers.
        answers: index of the choice by member.
        revealed: whether everybody sees the counts; answers are final then.
    """

    number: int
    text: str
    choices: tuple[str, ...]
    answers: dict[str, int] = field(default_factory=dict)
    revealed: bool = False

    def counts(self) -> list[int]:
        """How often each choice was given."""
        given = list(self.answers.values())
        return [given.count(choice) for choice in range(len(self.choices))]


@dataclass
class Member:
    """A browser in a room.

    Attributes:
        presents: whether it has shown the key.
        bucket: limits its changes.
        joined: when.
        streams: how many of its tabs listen now.
    """

    presents: bool
    bucket: Bucket
    joined: float
    streams: int = 0


class Room:
    """One room; `key` must never be sent to anybody but the browser that opened it."""

    def __init__(self, screen: Screen, clock: Clock) -> None:
        self.code = "".join(secrets.choice(LETTERS) for _ in range(CODE))
        self.key = secrets.token_urlsafe(24)
        self.screen = screen
        self.question: Question | None = None
        self.asked = 0
        self.members: dict[str, Member] = {}
        self.open = True
        self.used = clock()
        self.clock = clock
        self.changes = Bucket(40, 20, clock)
        self.joins = Bucket(FOLLOWERS, 20, clock)
        self._changed = asyncio.Event()

    def join(self, key: str | None = None) -> str:
        """Adds a browser.

        Args:
            key: of the presenter's browser; None for a follower's.

        Returns:
            The secret by which the new member is known.

        Raises:
            KeyRefusedError: the key is not that of the room.
            BusyError: the room is full, or too many join at once.
        """
        if key is not None:
            self._check(key)
        self.joins.take()
        if len(self.members) >= FOLLOWERS:
            self._forget_one()
        name = secrets.token_urlsafe(12)
        self.members[name] = Member(key is not None, Bucket(20, 5, self.clock), self.clock())
        return name

    def _forget_one(self) -> None:
        """Makes place by forgetting who joined first of those who no longer listen."""
        gone = [name for name, member in self.members.items() if not member.streams]
        if not gone:
            raise BusyError
        oldest = min(gone, key=lambda name: self.members[name].joined)
        del self.members[oldest]

    def show(self, key: str, screen: Screen) -> None:
        """Takes everybody to a step of a lesson."""
        self._change(key)
        self.screen = screen
        self._tell()

    def ask(self, key: str, text: str, choices: tuple[str, ...]) -> None:
        """Asks a question, in place of an earlier one."""
        self._change(key)
        self.asked += 1
        self.question = Question(self.asked, text, choices)
        self._tell()

    def reveal(self, key: str) -> None:
        """Shows everybody how often each choice was given."""
        self._change(key)
        if self.question is None:
            raise QuestionError("expected a question that was asked")
        self.question.revealed = True
        self._tell()

    def dismiss(self, key: str) -> None:
        """Takes the question away."""
        self._change(key)
        self.question = None
        self._tell()

    def answer(self, member: str, question: int, choice: int) -> None:
        """Sets a follower's answer, in place of an earlier one.

        Raises:
            QuestionError: this question is no longer asked, its answers are final, or it has no
                such choice.
        """
        follower = self.member(member)
        follower.bucket.take()
        asked = self.question
        if asked is None or asked.number != question or asked.revealed:
            raise QuestionError("expected an answer to the question that is open")
        if follower.presents or choice >= len(asked.choices):
            raise QuestionError(f"expected a follower's choice from 0 to {len(asked.choices) - 1}")
        asked.answers[member] = choice
        self._tell()

    def end(self, key: str) -> None:
        """Closes the room: all who listen are told, and it is no longer found."""
        self._change(key)
        self.close()

    def close(self) -> None:
        self.open = False
        self._tell()

    def member(self, name: str) -> Member:
        """A member.

        Raises:
            UnknownError: there is none of that name.
        """
        if name not in self.members:
            raise UnknownError(name)
        return self.members[name]

    def followers(self) -> int:
        """How many listen."""
        return sum(1 for each in self.members.values() if each.streams and not each.presents)

    def seen_by(self, name: str) -> dict[str, Any]:
        """What a member is told: the presenter alone sees who follows, and counts not revealed."""
        presents = self.member(name).presents
        asked = self.question
        seen: dict[str, Any] = {**vars(self.screen), "question": None}
        if presents:
            seen["followers"] = self.followers()
        if asked is not None:
            seen["question"] = {
                "number": asked.number,
                "text": asked.text,
                "choices": asked.choices,
                "revealed": asked.revealed,
                "counts": asked.counts() if presents or asked.revealed else None,
                "answer": asked.answers.get(name),
            }
        return seen

    @contextmanager
    def listening(self, name: str) -> Iterator[None]:
        """Counts a member among those who listen."""
        member = self.member(name)
        member.streams += 1
        self._tell()
        try:
            yield
        finally:
            member.streams -= 1
            self._tell()

    async def change(self, seconds: float) -> bool:
        """Waits for the next change; False if there is none in so many seconds."""
        try:
            return await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return False

    def idle(self) -> float:
        """Seconds since anything happened here; 0 while somebody listens."""
        listened = any(each.streams for each in self.members.values())
        return 0.0 if listened else self.clock() - self.used

    def _change(self, key: str) -> None:
        self._check(key)
        self.changes.take()

    def _check(self, key: str) -> None:
        if not secrets.compare_digest(key.encode(), self.key.encode()):
            raise KeyRefusedError("this key does not open the room")

    def _tell(self) -> None:
        """Wakes all who wait for a change."""
        self.used = self.clock()
        self._changed.set()
        self._changed = asyncio.Event()


class Rooms:
    """The rooms of a server.

    Args:
        clock: seconds from any origin.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self.rooms: dict[str, Room] = {}
        self.openings = Bucket(10, 0.5, clock)

    def open(self, screen: Screen) -> Room:
        """Opens a room.

        Raises:
            BusyError: there are too many, or too many were opened just now.
        """
        self._close_idle(IDLE_SECONDS)
        self.openings.take()
        if len(self.rooms) >= ROOMS:
            self._close_idle(60.0)  # left behind by browsers that were closed
        if len(self.rooms) >= ROOMS:
            raise BusyError
        room = Room(screen, self.clock)
        self.rooms[room.code] = room
        return room

    def get(self, code: str) -> Room:
        """The room of that code.

        Raises:
            UnknownError: there is none, or no longer.
        """
        self._close_idle(IDLE_SECONDS)
        room = self.rooms.get(code)
        if room is None or not room.open:
            raise UnknownError(code)
        return room

    def _close_idle(self, seconds: float) -> None:
        for code, room in list(self.rooms.items()):
            if not room.open or room.idle() > seconds:
                room.close()
                del self.rooms[code]


def is_open() -> bool:
    """Whether this server has rooms: ROOM=1 in its environment."""
    return os.environ.get("ROOM", "") not in ("", "0")
