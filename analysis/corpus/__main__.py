"""`python -m analysis.corpus` reads a corpus and writes what every head does over it.

    python -m analysis.corpus --model smollm2 --texts books.txt more.jsonl --out run
    cat texts.txt | python -m analysis.corpus --model minilm --texts - --out run
    python -m analysis.corpus --model dinov2 --images photos --out run --engine ray
    python -m analysis.corpus --out run --site public --against other-run

Files end in .txt (a text a line), .jsonl, .csv or .parquet; a folder stands for those in it. A run
that was killed goes on when the same command is given again. Exit status: 0 if it is complete, 1 if
it failed, 2 for arguments that make no sense, 130 if it was interrupted.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from analysis.corpus.engines import ENGINES
from analysis.corpus.files import reason_of
from analysis.corpus.plan import LONGEST, PAIRS, SHARD
from analysis.corpus.runs import corpus
from analysis.corpus.watched import Control, Progress, StoppedError, watched

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
NAME = "analysis.corpus"


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISUSED, f"{NAME}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs. Returns the exit status."""
    options = parsed(arguments)
    try:
        folder = read(options) if options.model else Path(options.out)
        if options.site:
            against = Path(options.against) if options.against else None
            folder = site().write_site(folder, Path(options.site), against)
    except (KeyboardInterrupt, StoppedError):
        return complain("interrupted: give the same command to go on", INTERRUPTED)
    except (OSError, ValueError) as error:
        return complain(error, FAILED)
    sys.stdout.write(f"{folder}\n")
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, which belong together."""
    asked = parser()
    options = asked.parse_args(arguments)
    if bool(options.model) != bool(options.texts or options.images):
        asked.error("expected --model together with --texts or --images")
    if not options.model and not options.site:
        asked.error("expected --model and what it reads, or --site for a run that is there")
    if options.against and not options.site:
        asked.error("--against: expected --site too, whose page compares the runs")
    return options


def site() -> Any:
    """What writes a site: the views stand above the analyses, which do not import them."""
    return import_module(str(__package__).removesuffix(NAME) + "viz.corpus_site")


def read(options: argparse.Namespace) -> Path:
    """Reads the corpus; returns the folder of the run."""
    names = ("column", "target", "longest", "shard", "threads", "device", "about")
    settings = {name: getattr(options, name) for name in (*names, "engine", "pairs")}
    sources = [Path(each) for each in options.texts or options.images]
    if options.watched and hasattr(os, "nice"):
        os.nice(10)  # other processes of this machine go first
    with watched(Path(options.out)) if options.watched else nullcontext(bar()) as control:
        return corpus(options.model, sources, options.out, control=control, **settings)


def bar() -> Control:
    """Draws progress as a bar, in a terminal."""
    progress_bar = tqdm(desc=NAME, unit=" texts", disable=None)

    def control(progress: Progress) -> None:
        if progress.total is not None:
            progress_bar.total = progress.total
            progress_bar.update(progress.done - progress_bar.n)

    return control


def parser() -> Parser:
    """The command-line options."""
    parser = Parser(
        f"python -m {NAME}",
        description=(__doc__ or "").replace("python -m analysis.corpus", f"python -m {NAME}"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", help="catalogue name, folder or hub id")
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--texts", nargs="+", help="files, folders, or - for standard input")
    given.add_argument("--images", nargs="+", help="pictures, or folders of them")
    parser.add_argument("--out", required=True, help="folder of the results")
    parser.add_argument("--site", help="write static files of the run there, for any web server")
    parser.add_argument("--against", help="a second run, which the site compares with it")
    parser.add_argument("--engine", default="local", choices=ENGINES)
    parser.add_argument("--column", help="of .csv, .parquet and .jsonl, the one with the text")
    parser.add_argument("--target", help="the one with what an encoder–decoder is to write")
    parser.add_argument("--longest", type=int, default=LONGEST, help="tokens of a text, at most")
    parser.add_argument("--shard", type=int, default=SHARD, help="texts between two savings")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="of tokens, kept of each head")
    parser.add_argument("--threads", type=int, default=0, help="of each worker")
    parser.add_argument("--device", help="such as cpu or cuda; of the local engine")
    parser.add_argument("--about", default="", help="what the texts are, for display")
    parser.add_argument("--watched", action="store_true", help="report in a file, for a page")
    return parser


def complain(problem: object, status: int) -> int:
    """One line on standard error; returns the exit status."""
    sys.stderr.write(f"{NAME}: {reason_of(problem)}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
