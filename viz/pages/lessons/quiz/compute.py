"""What the page takes from models and analyses, imported on first use (see `viz.pages.lazy`)."""

from einops import rearrange as rearrange
from torch import arange as arange
from torch import float32 as float32
from torch import no_grad as no_grad
from torch import stack as stack
from torch import tensor as tensor
from torch import zeros as zeros

from models.attention import Dot as Dot
from models.attention import MultiHeadAttention as MultiHeadAttention
from models.attention import MultiHeadAttentionConfig as MultiHeadAttentionConfig
from models.attention.mask import Mask as Mask
from models.blocks import standardised as standardised
from models.patches import cut as cut
from models.positional import sinusoidal as sinusoidal
from viz.course.dictionary.numbers import CASES as CASES
from viz.course.dictionary.numbers import case as case
from viz.course.numbers import softened as softened
from viz.course.position.numbers import permuted as permuted
