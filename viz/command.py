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

from models.request import (
    Chat,
    File,
    Input,
    Picture,
    Question,
    Recording,
    Source,
    TraceRequest,
    file_of,
)
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
    place, status = "", MISUSED
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: complain(message)
            check(options)
            source = source_of(options.model, options.device)
            model = open_model(source)
            for flag, reads in (("picture", model.preprocessing), ("recording", model.sound)):
                if getattr(options, flag) and reads is None:
                    kind = "pictures" if flag == "picture" else "sound"
                    raise ValueError(f"--{flag}: {model.name} reads no {kind}")
            place, status = "input: ", FAILED
            write(model, source, options)
            return 0
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError) and error.filename
        complain(place + (f"there is no file {missing}" if missing else str(error)))
    return status


def parser() -> Parser:
    """The command-line options."""
    parser = Parser(NAME, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, given = parser.add_argument, parser.add_mutually_exclusive_group()
    add("--model", default="minilm", help="catalogue name, folder or hub id")
    add("--device", default="cpu", help="such as cpu or cuda")
    about = "file of a picture, for a model that reads pictures; with --text, the question about it"
    add("--picture", action="append", help=f"{about}, once for each picture")
    given.add_argument("--text", help="the input")
    given.add_argument("--recording", help="WAV file, for a model that reads sound")
    add("--chat", action="store_true", help="the text as a user's turn in the chat template")
    add("--target", help="what an encoder–decoder is to write")
    add("--language", default="", help="code of the language of the target")
    add("--view", default="matrix", choices=FORM)
    add("--layer", type=int, help="−1 is the last; not needed for the atlas")
    add("--head", type=heads, help="a number, several with commas, mean or max; all")
    add("--kind", choices=("self", "causal", "cross"))
    add("--tower", help="which part of a model with several")
    add("--module", help="path of the attention module, of several in one layer")
    add("--part", type=int, help="which run of a tower that runs several times")
    for option in OF_FILES.values():
        flag = FLAGS.get(option.name, option.name)
        add(f"--{flag.replace('_', '-')}", dest=option.name, **_taken(option))
    add("--words", action="store_true", help="whole words instead of tokens")
    add("--no-words", action="store_true", help="title and caption in the metadata alone")
    add("-o", "--output", dest="path", type=Path, required=True, help="the file")
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
    pictures, suffix = options.picture or (), options.path.suffix.lower()
    if options.text is None and options.recording is None and not pictures:
        raise ValueError("one of the arguments --text --picture --recording is required")
    if pictures and (options.recording or (len(pictures) > 1 and not options.text)):
        raise ValueError("--picture: expected one alone, or with --text")
    if suffix not in FORMATS:
        expected = f"expected a name that ends in one of {', '.join(FORMATS)}"
        raise ValueError(f"-o: {expected}, received {options.path.name!r}")


def read(model: "Model", options: argparse.Namespace) -> Input:
    """The input."""
    from models.inputs.prompt import is_asked
    from models.inputs.sound import read_recording

    if options.recording:
        read_recording(Path(options.recording))  # names the file where it cannot be read
        return Recording(_file(options.recording))
    data = [_file(path) for path in options.picture or ()]
    if not data:
        return Chat(options.text) if options.chat else options.text
    if options.text and is_asked(model):
        return Question(options.text, tuple(data))
    if len(data) > 1:
        raise ValueError(f"--picture: {model.name} reads one picture, received {len(data)}")
    return Picture(data[0], text=options.text)


def _file(path: str) -> File:
    return file_of(Path(path).read_bytes(), Path(path).name)


def write(model: "Model", source: Source, options: argparse.Namespace) -> None:
    """Traces the input and writes the file."""
    from analysis.view import View
    from models.tracing import arguments, run

    given = read(model, options)
    request = TraceRequest(source, given, options.target, language=options.language)
    view: Any = run(request, model)
    alone = options.text is None and options.recording is None  # a picture without words
    place = ("view", "layer", "head", "kind", "tower", "module", "part")
    export(
        View(view) if options.words and not alone else view,
        options.path,
        picture=Path(options.picture[0]) if alone else None,
        run=arguments(request, model),
        words=not options.no_words,
        **{name: getattr(options, name) for name in (*place, *OF_FILES)},
    )


def complain(problem: object) -> None:
    """Writes one line to standard error."""
    sys.stderr.write(f"{NAME}: {' '.join(str(problem).split())}\n")
