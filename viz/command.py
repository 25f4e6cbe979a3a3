"""`headscope figure` makes figures, pages and numbers from a shell.

    headscope figure --model minilm --text "The cat sat." --layer 3 --head 5 -o figure.svg
    headscope figure --model digits --picture four.png --view image --layer 2 -o figure.pdf
    headscope figure --model MODEL --text "What is it?" --picture dog.png --view pictures \\
        --layer 8 -o looked.pdf
    headscope figure --model whisper --recording said.wav --layer 2 --kind cross -o figure.svg
    headscope figure --model minilm --inputs texts.txt --layer 3 --format npz --out-dir out --json

The suffix of a file says what it is: .svg, .pdf, .png, .html, .npz or .csv. Exit status: 0 if every
file was written, 1 if an input failed, 2 for arguments that make no sense.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from models.request import Chat, File, Picture, Question, Recording, Source, TraceRequest, file_of
from viz.export.files import FORMATS, export
from viz.selection import OF_FILES, Option
from viz.values import FLAG, TEXT
from viz.views import FORM

if TYPE_CHECKING:
    from models.model import Model

NAME = "headscope figure"  # `python headscope.py figure` in a checkout
FAILED, MISUSED = 1, 2


@dataclass(frozen=True)
class Job:
    """One input and the file it becomes."""

    input: str
    path: Path


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISUSED, f"{NAME}: {message}\n")


def main(arguments: Sequence[str]) -> int:
    """Writes the files. Returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        jobs = jobs_of(options)
        source, model = opened(options)
    except (OSError, ValueError) as error:
        complain(error)
        return MISUSED
    failures = 0
    for number, job in enumerate(jobs, 1):
        started = time.perf_counter()
        problem = None
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_: complain(message)
                write(source, model, job, options)
        except FileNotFoundError as error:
            problem, failures = f"there is no file {error.filename}", failures + 1
        except (OSError, ValueError) as error:
            problem = " ".join(str(error).split())
            failures += 1
        seconds = time.perf_counter() - started
        report(options, number, len(jobs), job, seconds, problem)
    return FAILED if failures else 0


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
    given.add_argument(
        "--inputs", type=Path, help="file with one text a line, or one picture or WAV file a line"
    )
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
        "--special", default="shown", choices=("shown", "hidden", "renormalised"), help="tokens"
    )
    parser.add_argument(
        "--no-words", action="store_true", help="title and caption in the metadata alone"
    )
    parser.add_argument("-o", "--output", dest="path", type=Path, help="the file")
    parser.add_argument("--out-dir", type=Path, help="folder of the files of --inputs")
    parser.add_argument(
        "--format", default="svg", choices=[suffix[1:] for suffix in FORMATS], help="with --out-dir"
    )
    parser.add_argument("--json", action="store_true", help="progress as one JSON object a line")
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


FLAGS = {"output": "explain"}  # -o, --output is the file


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


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """The inputs and the files they become.

    Raises:
        ValueError: for options that contradict each other.
        OSError: if the inputs cannot be read, or the folder cannot be made.
    """
    if options.inputs is None:
        if options.text is None and options.recording is None and not options.picture:
            raise ValueError(
                "one of the arguments --text --picture --recording --inputs is required"
            )
        if options.path is None or options.out_dir is not None:
            raise ValueError("expected -o with --text, --picture or --recording")
        if options.picture and (
            options.recording or (len(options.picture) > 1 and not options.text)
        ):
            raise ValueError("--picture: expected one alone, or with --text")
        if options.path.suffix.lower() not in FORMATS:
            raise ValueError(
                f"-o: expected a name that ends in one of {', '.join(FORMATS)},"
                f" received {options.path.name!r}"
            )
        given = (options.text, options.recording, *(options.picture or ()))
        return [Job(next(each for each in given if each is not None), options.path)]
    if options.picture:
        raise ValueError("--picture: expected without --inputs, which names the pictures itself")
    if options.out_dir is None or options.path is not None:
        raise ValueError("expected --out-dir with --inputs")
    lines = options.inputs.read_text(encoding="utf-8").splitlines()
    jobs = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not jobs:
        raise ValueError(f"{options.inputs.name}: expected one input a line, received none")
    options.out_dir.mkdir(parents=True, exist_ok=True)
    digits = len(str(len(lines)))
    return [
        Job(line, options.out_dir / f"{number:0{digits}}.{options.format}") for number, line in jobs
    ]


def opened(options: argparse.Namespace) -> "tuple[Source, Model]":
    """Where the model is, and the model.

    Raises:
        ValueError: if it cannot be opened, or does not read what it is given.
    """
    from models.tracing import open_model, source_of

    source = source_of(options.model, options.device)
    model = open_model(source)
    if options.picture is not None and model.preprocessing is None:
        raise ValueError(f"--picture: {model.name} reads no pictures")
    if options.recording is not None and model.sound is None:
        raise ValueError(f"--recording: {model.name} reads no sound")
    return source, model


def write(source: Source, model: "Model", job: Job, options: argparse.Namespace) -> None:
    """Traces one input and writes its file."""
    from analysis.view import View
    from models.inputs.sound import read_recording
    from models.tracing import arguments, run

    reads_picture = (
        model.preprocessing is not None and options.text is None and options.recording is None
    )
    path = Path(job.input)
    given = Picture(_file(path)) if reads_picture else job.input
    if model.sound is not None and not reads_picture and options.text is None:
        read_recording(path)  # names the file where it cannot be read
        given = Recording(_file(path))
    if options.text is not None and options.picture:
        given = _about_pictures(options.text, options.picture, model)
    if options.chat and isinstance(given, str):
        given = Chat(given)
    request = TraceRequest(source, given, options.target, language=options.language)
    t = run(request, model)
    view = t
    if not reads_picture and (options.words or options.special != "shown"):
        view = View(t, words=options.words, special=options.special)
    export(
        view,
        job.path,
        view=options.view,
        layer=options.layer,
        head=options.head,
        kind=options.kind,
        tower=options.tower,
        module=options.module,
        part=options.part,
        picture=path if reads_picture else None,
        run=arguments(request, model),
        words=not options.no_words,
        **{name: getattr(options, name) for name in OF_FILES},
    )


def _about_pictures(text: str, pictures: Sequence[str], model: "Model") -> Question | Picture:
    """A question about pictures, or a text that is read beside one."""
    from models.inputs.prompt import is_asked

    first, *others = (_file(Path(each)) for each in pictures)
    if is_asked(model):
        return Question(text, (first, *others))
    if others:
        raise ValueError(f"--picture: {model.name} reads one picture, received {len(pictures)}")
    return Picture(first, text=text)


def _file(path: Path) -> File:
    return file_of(path.read_bytes(), path.name)


def report(
    options: argparse.Namespace,
    number: int,
    total: int,
    job: Job,
    seconds: float,
    problem: str | None,
) -> None:
    """Writes a line of progress: JSON to standard output, or a problem to standard error."""
    if options.json:
        line: dict[str, Any] = {"input": number, "of": total, "file": str(job.path)}
        line |= {"seconds": round(seconds, 3)}
        line |= {"error": problem} if problem else {"bytes": job.path.stat().st_size}
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    elif problem:
        place = f" {number}" if total > 1 else ""
        sys.stderr.write(f"{NAME}: input{place}: {problem}\n")


def complain(problem: object) -> None:
    """Writes one line to standard error."""
    sys.stderr.write(f"{NAME}: {' '.join(str(problem).split())}\n")
