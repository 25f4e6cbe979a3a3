"""Speech made by eSpeak NG, whose library comes in a package (Linux on x86-64)."""

import ctypes
from pathlib import Path

import numpy as np
from scipy.io import wavfile

SYNCHRONOUS, PACE, WORDS_A_MINUTE = 2, 1, 140
PACKAGE = "espeakng-loader==0.2.4"
Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
)


def speak(text: str, package: Path, out: Path) -> Path:
    """Writes a WAV file.

    Args:
        text: in English.
        package: the unpacked package.
        out: the file.
    """
    library = ctypes.CDLL(str(package / "libespeak-ng.so"))
    rate = library.espeak_Initialize(SYNCHRONOUS, 0, bytes(package / "espeak-ng-data"), 0)
    heard: list[np.ndarray] = []

    @Callback
    def take(samples, count: int, events) -> int:
        if samples and count:
            heard.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    library.espeak_SetSynthCallback(take)
    library.espeak_SetVoiceByName(b"en-us")
    library.espeak_SetParameter(PACE, WORDS_A_MINUTE, 0)
    data = text.encode()
    library.espeak_Synth(data, len(data) + 1, 0, 1, 0, 1, None, None)
    library.espeak_Synchronize()
    wavfile.write(out, rate, np.concatenate(heard))
    return out
