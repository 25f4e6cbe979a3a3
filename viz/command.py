"""`headscope figure` makes figures, pages and numbers from a shell.

    headscope figure --model minilm --text "The cat sat." --layer 3 --head 5 -o figure.svg
    headscope figure --model digits --picture four.png --view image --layer 2 -o figure.pdf
    headscope figure --model MODEL --text "What is it?" --picture dog.png --view pictures \\
        --layer 8 -o looked.pdf
    headscope figure --model whisper --recording said.wav --layer 2 --kind cross -o figure.svg

The suffix of a file says what it is: .svg, .pdf, .png, .html, .npz or .csv. Exit status: 0 if the
file was written, 1 if the input failed, 2 for arguments that make no sense.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from models.request import Chat, File, Input, Picture, Question, Recording, TraceRequest, file_of
from viz.export.files import FORMATS, export
from viz.selection import OF_FILES, Option
from viz.values import FLAG, TEXT
from viz.views import FORM

if TYPE_CHECKING:
    from models.model import Model

NAME = "headscope figure"  # `python headscope.py figure` in a checkout
FAILED, MISUSED = 1, 2
FLAGS = {"output": "explain"}  # -o, --output is the file


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISUSED, f"{NAME}: {message}\n")


def main(arguments: Sequence[str]) -> int:
    """Writes the file. Returns the exit status."""
    from models.tracing import open_model, source_of

    options = parser().parse_args(arguments)
    try:
        check(options)
        source = source_of(options.model, options.device)
        model = open_model(source)
        if options.picture and model.preprocessing is None:
            raise ValueError(f"--picture: {model.name} reads no pictures")
        if options.recording and model.sound is None:
            raise ValueError(f"--recording: {model.name} reads no sound")
    except (OSError, ValueError) as error:
        complain(error)
        return MISUSED
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: complain(message)
            given = read(model, options)
            request = TraceRequest(source, given, options.target, language=options.language)
            write(model, request, options)
    except FileNotFoundError as error:
        complain(f"input: there is no file {error.filename}")
    except (OSError, ValueError) as error:
        complain(f"input: {error}")
    else:
        return 0
    return FAILED


def parser() -> Parser:
    """The command-line options."""
    parser = Parser(NAME, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="minilm", help="catalogue name, folder or hub id")
    parser.add_argument("--device", default="cpu", help="such as cpu or cuda")
    parser.add_argument(
        "--picture",
        action="append",
        help="file of a picture, for a model that reads pictures; with --text, the question about"
        " it, once for each picture",
    )
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--text", help="the input")
    given.add_argument("--recording", help="WAV file, for a model that reads sound")
    parser.add_argument(
        "--chat", action="store_true", help="the text as a user's turn in the chat template"
    )
    parser.add_argument("--target", help="what an encoder–decoder is to write")
    parser.add_argument("--language", default="", help="code of the language of the target")
    parser.add_argument("--view", default="matrix", choices=FORM)
    parser.add_argument("--layer", type=int, help="−1 is the last; not needed for the atlas")
    parser.add_argument(
        "--head", type=heads, help="a number, several with commas, mean or max; all"
    )
    parser.add_argument("--kind", choices=("self", "causal", "cross"))
    parser.add_argument("--tower", help="which part of a model with several")
    parser.add_argument("--module", help="path of the attention module, of several in one layer")
    parser.add_argument("--part", type=int, help="which run of a tower that runs several times")
    for option in OF_FILES.values():
        flag = FLAGS.get(option.name, option.name)
        parser.add_argument(f"--{flag.replace('_', '-')}", dest=option.name, **_taken(option))
    parser.add_argument("--words", action="store_true", help="whole words instead of tokens")
    parser.add_argument(
        "--no-words", action="store_true", help="title and caption in the metadata alone"
    )
    parser.add_argument("-o", "--output", dest="path", type=Path, required=True, help="the file")
    return parser


def heads(text: str) -> Any:
    """ "3", "0,3", "mean", "max" or "all"."""
    if text == "all":
        return None
    if text in ("mean", "max"):
        return text
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        message = f"expected numbers such as 3 or 0,3, or mean, max or all, received {text!r}"
        raise argparse.ArgumentTypeError(message) from None
    return numbers[0] if len(numbers) == 1 else numbers


def _taken(option: Option) -> dict[str, Any]:
    """How the shell takes an option of the selection."""
    kind, about = option.kind, option.about.replace("%", "%%")
    if kind is FLAG:
        return {"action": "store_true", "help": about}
    if kind.words:
        words = [word for word in kind.words if word]
        return {"choices": words, "default": option.default, "help": about}

    def read(text: str) -> Any:
        try:
            listed = ".".join(part.strip() for part in text.split(","))
            return kind(text if kind is TEXT else listed)
        except ValueError as error:
            expected = str(error).replace("by dots", "by commas")
            raise argparse.ArgumentTypeError(f"{expected}, received {text!r}") from None

    return {"type": read, "default": option.default, "help": about}


def check(options: argparse.Namespace) -> None:
    """Raises ValueError for options that contradict each other."""
    pictures = options.picture or ()
    if options.text is None and options.recording is None and not pictures:
        raise ValueError("one of the arguments --text --picture --recording is required")
    if pictures and (options.recording or (len(pictures) > 1 and not options.text)):
        raise ValueError("--picture: expected one alone, or with --text")
    if options.path.suffix.lower() not in FORMATS:
        raise ValueError(
            f"-o: expected a name that ends in one of {', '.join(FORMATS)},"
            f" received {options.path.name!r}"
        )


def read(model: "Model", options: argparse.Namespace) -> Input:
    """The input."""
    from models.inputs.prompt import is_asked
    from models.inputs.sound import read_recording

    if options.recording:
        read_recording(Path(options.recording))  # names the file where it cannot be read
        return Recording(_file(options.recording))
    pictures = [_file(path) for path in options.picture or ()]
    if not pictures:
        return Chat(options.text) if options.chat else options.text
    if options.text and is_asked(model):
        return Question(options.text, tuple(pictures))
    if len(pictures) > 1:
        raise ValueError(f"--picture: {model.name} reads one picture, received {len(pictures)}")
    return Picture(pictures[0], text=options.text)


def _file(path: str) -> File:
    return file_of(Path(path).read_bytes(), Path(path).name)


def write(model: "Model", request: TraceRequest, options: argparse.Namespace) -> None:
    """Traces the input and writes the file."""
    from analysis.view import View
    from models.tracing import arguments, run

    view: Any = run(request, model)
    alone = options.text is None and options.recording is None  # a picture without words
    if not alone and options.words:
        view = View(view)
    place = ("view", "layer", "head", "kind", "tower", "module", "part")
    export(
        view,
        options.path,
        picture=Path(options.picture[0]) if alone else None,
        run=arguments(request, model),
        words=not options.no_words,
        **{name: getattr(options, name) for name in (*place, *OF_FILES)},
    )


def complain(problem: object) -> None:
    """Writes one line to standard error."""
    sys.stderr.write(f"{NAME}: {' '.join(str(problem).split())}\n")
