"""Alignment in two real networks: words to words in a translator, words to seconds in Whisper."""

from typing import Any

from viz.course import real
from viz.course.inputs import InputError

MODEL, SPEECH = "translate", "whisper"
SENTENCE = "The cat sat on the black chair because it was tired."
LAYER, HEAD = 1, 0  # trained to align words
MOST = 24  # tokens that the picture has room for


@real.of(MODEL)
def alignment(sentence: str) -> dict[str, Any]:
    """The weights of the aligning head, a row for each token that is written, with its probability.

    Args:
        sentence: English.

    Raises:
        InputError: for a sentence of too many tokens.
    """
    trace = real.traced(MODEL, sentence)
    site = next(each for each in trace.sites if (each.kind, each.layer) == ("cross", LAYER))
    source, written = trace.key_labels(site), [*trace.query_labels(site)[1:], "end"]
    if max(len(source), len(written)) > MOST:
        received = max(len(source), len(written))
        raise InputError(f"expected at most {MOST} tokens, received {received}")
    shares = trace.output.values[0].softmax(-1).amax(-1)
    return {
        "source": [real.word(label) for label in source[:-1]] + ["end"],
        "written": [*map(real.word, written)],
        "weights": trace.weights(site.layer, HEAD, kind="cross").tolist(),
        "shares": shares.tolist(),
    }


@real.of(SPEECH)
def spoken() -> dict[str, Any]:
    """The words of a recorded sentence, with the seconds at which each begins and ends.

    The curve of a word is the mean weight of the aligning heads on each frame that was heard,
    while its tokens are written.
    """
    import torch

    from analysis import alignment

    trace = real.traced(SPEECH, str(real.RECORDING))
    words = alignment.align(trace)
    sound = trace.sound
    if sound is None:
        raise ValueError("expected the trace of a recording")
    tokens, first = alignment.transcript(trace)
    frame = alignment.seconds_per_frame(trace)
    heads = [trace.weights(layer, head, kind="cross") for layer, head in sound.aligning]
    # a row attends while it writes the token after it
    written = torch.stack(heads).mean(0)[first - 1 :]
    written = written[:, : sound.frames_heard(written.shape[1])]
    return {
        "words": [word.text.strip() for word in words],
        "starts": [word.start for word in words],
        "ends": [word.end for word in words],
        "curves": [written[at].mean(0).tolist() for _, at in alignment.spoken(tokens)],
        "frame": frame,
        "heard": sound.heard[0],
        "heads": [[*each] for each in sound.aligning],
    }
