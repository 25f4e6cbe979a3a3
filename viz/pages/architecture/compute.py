"""What the page takes from models and analyses, imported on first use (see `viz.pages.lazy`)."""

from models.cost import memory_check as memory_check
from models.cost.count import check_input as check_input
from models.cost.count import parts as parts
from models.cost.count import total as total
from models.cost.count import walk as walk
from models.cost.memory import peak_memory as peak_memory
from models.decoder import DecoderConfig as DecoderConfig
from models.encoder import EncoderConfig as EncoderConfig
from models.layer import AttentionLayerConfig as AttentionLayerConfig
from models.output import cross_entropy as cross_entropy
from models.output import top_k_accuracy as top_k_accuracy
from models.seq2seq import Seq2SeqConfig as Seq2SeqConfig
from models.vit import ViTConfig as ViTConfig
from train.recipes import RECIPES as RECIPES
from train.task import answers as answers
from train.task import draw as draw
