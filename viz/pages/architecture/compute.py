"""What the page takes from models and analyses, imported on first use (see `viz.pages.lazy`)."""

from models.cost import memory_check as memory_check
from models.cost.count import check_input as check_input
from models.cost.count import parts as parts
from models.cost.count import total as total
from models.cost.count import walk as walk
from models.cost.memory import peak_memory as peak_memory
from models.seq2seq import Seq2SeqConfig as Seq2SeqConfig
