"""What the heads of a model do over a corpus: `corpus` reads it, `open_corpus` opens results."""

from analysis.corpus.opened import Run as Run
from analysis.corpus.opened import open_corpus as open_corpus
from analysis.corpus.progress import Progress as Progress
from analysis.corpus.progress import StoppedError as StoppedError
from analysis.corpus.runs import corpus as corpus
