"""What the page takes from models and analyses, imported on first use (see `viz.pages.lazy`)."""

from torch import stack as stack

from analysis.effects import EmbeddingDistance as EmbeddingDistance
from analysis.outputs import class_probabilities as class_probabilities
from analysis.outputs import divergence as divergence
from analysis.outputs import logits_at as logits_at
from analysis.outputs import top_ids as top_ids
from analysis.predictions import vocabulary_of as vocabulary_of
from analysis.similarity import grid_distances as grid_distances
from analysis.target import EMBEDDINGS as EMBEDDINGS
from analysis.vision import attention_distance as attention_distance
from analysis.vision import attention_entropy as attention_entropy
from models.cost import memory_check as memory_check
from models.cost.count import parts as parts
from models.cost.count import total as total
from models.cost.memory import peak_memory as peak_memory
from models.edits.fields import arguments as arguments
from models.edits.text import edit_of as edit_of
from models.edits.text import edit_values as edit_values
from models.edits.text import format_edits as format_edits
from models.edits.text import parse_edits as parse_edits
from models.files import hub as hub
from models.inputs.prompt import Prompt as Prompt
from models.inputs.prompt import in_template as in_template
from models.inputs.prompt import reads_videos as reads_videos
from models.inputs.sound import read_recording as read_recording
from models.inputs.video import Video as Video
from models.loading import adapter as adapter
from models.loading import summary as summary
from models.loading.folders import doors as doors
from models.loading.folders import network_of as network_of
from models.loading.summary import reads as reads
from models.model import grouped as grouped
from models.tracing import length as length
from models.tracing import seen as seen
from models.tracing import written_out as written_out
