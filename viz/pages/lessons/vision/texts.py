"""The folded texts of the lesson on vision transformers (its steps: story.py)."""

from viz.pages.lessons import course
from viz.pages.lessons.frame import Try

TEXT = (
    "A [[transformer]] reads a [[sequence]] of [[vector|vectors]]. So an image is cut into"
    " [[patch|patches]], and each patch becomes a [[token]]: its flattened pixels, through one"
    " [[linear layer]]. A [[class token]] is put in front, positions are added, and from there on"
    f" it is the encoder of lesson {course.number('block')}, with the norm before each layer"
    " ([[pre-norm]]). At the end"
    " only the class token goes into the [[head layer]].",
)
SYMBOLS = (
    "x_{1} … x_{N} are the patches, x_{class} the class token at position 0, E is the matrix of"
    " the linear layer, E_{pos} holds a vector for each position. MSA is [[multi-head attention]],"
    " LN [[layer normalisation]], MLP the [[feed-forward network]]; l counts the blocks, of which"
    " there are L; y, the normalised final state of the class token, represents the image"
    " (Dosovitskiy et al. 2021, equations 1 to 4).",
)
CONTROL_TEXT = (
    "Go through the six steps with the arrow keys. All weights are random: what matters is the"
    " shapes, and where each number comes from.",
)
STEP_TEXTS = (
    "**1** Cut the image into squares of P × P pixels and write each one's numbers in a row. An"
    " image of {side} × {side} pixels gives N = {side}² / {patch}² = {count:,} patches; three"
    " colours a pixel make {patch}² · 3 = {numbers:,} numbers.",
    "**2** One [[linear layer]], the same for all patches, maps each of them to the model's width:"
    " {numbers:,} → {dim} numbers. A [[convolution]] whose stride equals its kernel size computes"
    " the same sum.",
    "**3** A learned vector is put in front. It represents no patch; at the end it represents the"
    " image: {count:,} + 1 tokens.",
    "**4** Attention alone ignores where a patch is: a learned vector for each position is added"
    " ([[positional encoding]]).",
    f"**5** The block of lesson {course.number('block')}, with the norm first: norm, attention,"
    " [[residual connection]];"
    " norm, feed-forward, residual connection.",
    "**6** All blocks, one more norm, and the class token becomes one number for each class; a"
    " [[softmax]] turns them into probabilities.",
)
WHY_TEXT = (
    "Why patches, and not pixels? Every token looks at every token, so the weights grow with the"
    " *square* of their number. The 28 × 28 pixels of a handwritten digit would be 784 tokens, and"
    " every head a 784 × 784 [[matrix]].",
)
TRAIN_TEXT = (
    "A vision transformer assumes little: not even that neighbouring pixels belong together, which"
    " a [[convolution]] takes for granted. It has to learn that from data, and on a small set of"
    " images it does worse than a convolutional network. So it is trained in two steps."
    " [[pretraining|Pretraining]]: many millions of labelled images, whatever they show."
    " [[fine-tuning|Fine-tuning]]: the head is thrown away and replaced by a new one, which starts"
    " at zero, for the classes that are wanted, and everything is trained a little further. For"
    " larger images the patches stay as large as they were, so there are more of them, and the"
    " learned positions are resampled to the finer grid (Dosovitskiy et al. 2021, section 3.2). The"
    " weights of the network above are random: only its shapes and its arithmetic can be trusted.",
)
COUNT_TEXT = (
    "How large are they? Counted from the config; nothing is built. 256/32 means images of"
    " 256 × 256 pixels in patches of 32 × 32. “Each” counts one copy of a part; a dash marks its"
    " components. The last of the networks has no class token: its head reads all patches as one"
    " flattened vector; the number of weights of its first layer is below the table.",
)
TAKEAWAYS = (
    "An image is a sentence whose words are patches. All that follows is the encoder you know.",
    "Half the patch side means four times the patches, and about sixteen times the attention"
    " weights.",
    "The class token gathers what the head needs; the outputs of the patches are ignored.",
    "Cutting patches, and resampling positions for another image size, are the only steps that use"
    " the image's two dimensions (Dosovitskiy et al. 2021, section 3.1): everything else about"
    " space is learned from data.",
)
TRIES = (
    Try(
        "Smaller patches.",
        "7 instead of 14: 1,024 patches instead of 256, and almost 16 times the weights in a head.",
        {"patch": "7", "step": 0},
    ),
    Try(
        "Channels first.",
        "The same numbers of a patch in another order: red of all pixels, then green, then blue.",
        {"order": "c p1 p2", "step": 0},
    ),
    Try(
        "One head as wide as the model.",
        "The shape of the output does not change.",
        {"heads": 1, "own": 128, "step": 4},
    ),
    Try(
        "A patch that does not fit.",
        "16 does not divide 28: the error lists what would.",
        {"image": "28", "patch": "16"},
    ),
    Try(
        "Pixels as patches.",
        "28 × 28 patches of one pixel: 784 tokens, and 785 with the class token.",
        {"image": "28", "patch": "1", "step": 2},
    ),
    Try(
        "The parameters of ViT-B/16.",
        "86,567,656, as in the authors' model: width 768, 12 blocks, 12 heads, 1,000 classes.",
        {"count": "vit-b16"},
    ),
)
