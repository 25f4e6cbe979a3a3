"""Tokenizers and chat templates of files from outside, run with a limit of time and memory.

A regular expression of a tokenizer may take for ever, a template may loop, and a panic of the
tokenizers library is not an `Exception`. They run in a process of their own, which is started once
and used again; one that does not end in time, or takes too much memory, ends with it.
"""

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from uuid import uuid4

from models.confined import jobs
from models.confined.jobs import UNKNOWN

if TYPE_CHECKING:
    from tokenizers import Encoding

MOST_SECONDS = 20  # by the clock, on a busy machine and where the processor's time has no limit


class ConfinedError(ValueError):
    """What a file from outside asks for fails; the message has one line."""


class LimitError(ConfinedError):
    """It does not end, or takes too much memory."""


class _Process:
    """The process; jobs wait for each other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._owner = 0  # a forked copy of this process starts its own

    def run(self, job: str, *arguments: Any) -> Any:
        """The answer of a function of `models.confined.jobs`."""
        with self._lock:
            process = self._started()
            sent, received = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
            timer = threading.Timer(MOST_SECONDS, process.kill)
            timer.start()
            try:
                pickle.dump((job, arguments), sent)
                sent.flush()
                error, answer = pickle.load(received)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                self.close()
                raise LimitError("takes too long or too much memory: stopped") from error
            finally:
                timer.cancel()
        if error:
            raise ConfinedError(error)
        return answer

    def _started(self) -> "subprocess.Popen[bytes]":
        process = self._running
        if process is None or process.poll() is not None or self._owner != os.getpid():
            self._running = process = subprocess.Popen(
                [sys.executable, "-P", str(Path(jobs.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt from the keyboard is not meant for it
            )
            self._owner = os.getpid()
        return process

    def close(self) -> None:
        """Ends the process, if it runs."""
        process, self._running = self._running, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            with contextlib.suppress(OSError):  # what was not yet sent has nowhere to go
                process.communicate()


_process = _Process()
atexit.register(_process.close)


def rendered(template: str, message: dict[str, Any], tokens: dict[str, str]) -> str:
    """A message in a chat template, where the model's turn begins.

    Raises:
        ConfinedError: for a template that fails, or does not end.
    """
    return _process.run("render", template, message, tokens)


def check_tokenizer(folder: Path) -> None:
    """Makes a tokenizer of the library of the files of a folder, and forgets it.

    Raises:
        ConfinedError: for files that it cannot read, or not in time.
    """
    _process.run("convert", str(folder))


class ConfinedReader:
    """Encodes and decodes like a tokenizer of the tokenizers library."""

    def __init__(self, text: str) -> None:
        """Reads the contents of a tokenizer.json.

        Raises:
            ConfinedError: for text that is no tokenizer, or cannot be read in time.
        """
        self._key, self._text = uuid4().hex, text
        _process.run("load", self._key, text)

    def encode(self, text: str, pair: str | None = None) -> "Encoding":
        return self._run("encode", text, pair)

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        return self._run("decode", list(ids), skip_special_tokens)

    def _run(self, job: str, *arguments: Any) -> Any:
        try:
            answer = _process.run(job, self._key, *arguments)
            if answer == UNKNOWN:
                _process.run("load", self._key, self._text)
                answer = _process.run(job, self._key, *arguments)
        except ConfinedError as error:
            raise ConfinedError(f"the model's tokenizer: {error}") from error
        return answer
