"""Speech made by eSpeak NG, with the times of its words.

Its library is that of the system, or comes in a package (Linux on x86-64).
"""

import ctypes
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.io import wavfile

SYNCHRONOUS, PACE, WORDS_A_MINUTE = 2, 1, 140
WORD_EVENT = 1
PACKAGE = "espeakng-loader==0.2.4"
SYSTEM = "libespeak-ng.so.1"


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


class Onset(NamedTuple):
    """A word, and the seconds at which it begins."""

    word: str
    seconds: float


def has_synthesizer() -> bool:
    """Whether the system has the library."""
    try:
        ctypes.CDLL(SYSTEM)
    except OSError:
        return False
    return True


def speak(
    text: str,
    package: Path | None,
    out: Path,
    voice: str = "en-us",
    pace: int = WORDS_A_MINUTE,
) -> tuple[Onset, ...]:
    """Writes a WAV file.

    Args:
        text: in English.
        package: the unpacked package; None for the library of the system.
        out: the file.
        voice: name of a voice, perhaps with a variant: "en-us+f3".
        pace: words a minute.

    Returns:
        Its words, with their onsets.
    """
    library = ctypes.CDLL(SYSTEM if package is None else str(package / "libespeak-ng.so"))
    data = None if package is None else bytes(package / "espeak-ng-data")
    rate = library.espeak_Initialize(SYNCHRONOUS, 0, data, 0)
    heard: list[np.ndarray] = []
    onsets: list[Onset] = []

    @Callback
    def take(samples, count: int, events) -> int:
        index = 0
        while events and events[index].type:
            event = events[index]
            word = text[event.text_position - 1 : event.text_position - 1 + event.length]
            if event.type == WORD_EVENT and word.strip():
                onsets.append(Onset(word, event.audio_position / 1000))
            index += 1
        if samples and count:
            heard.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    library.espeak_SetSynthCallback(take)
    library.espeak_SetVoiceByName(voice.encode())
    library.espeak_SetParameter(PACE, pace, 0)
    content = text.encode()
    library.espeak_Synth(content, len(content) + 1, 0, 1, 0, 1, None, None)
    library.espeak_Synchronize()
    wavfile.write(out, rate, np.concatenate(heard))
    return tuple(onsets)
