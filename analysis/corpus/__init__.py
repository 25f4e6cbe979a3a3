"""What the heads of a model do over a corpus: `run` reads it, `open_run` opens the results."""

from analysis.corpus.opened import Run as Run
from analysis.corpus.opened import open_run as open_run
from analysis.corpus.progress import Progress as Progress
from analysis.corpus.progress import StoppedError as StoppedError
from analysis.corpus.runs import run as run
