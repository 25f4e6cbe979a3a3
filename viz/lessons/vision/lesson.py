"""The story of the vision transformer: patches become a sequence, and are attended to."""

from viz.lessons.inputs import Count, OneOf
from viz.lessons.story import SIZES, Lesson, Misreading, Option, Page, Plan, Question, Step, Try

SMALL = {"network": "objects", "layer": 1, "head": 1, "position": 27}  # the one that answers
HEARD = {"layer": 0, "head": 5, "position": 68}  # of Whisper: the “s” of “cross”

LESSON = Lesson(
    name="vision",
    place=150,
    title="The vision transformer",
    icon="image",
    line="An image becomes a sentence of patches.",
    parts=("patches",),
    needs=("position", "block", "head_layer"),
    minutes=25,
    figure="From a picture to a sequence, and back",
    computed="these weights: those of the trained DINOv2",
    real=("dinov2", "whisper"),
    inputs={
        "network": OneOf("dinov2", ("dinov2", "objects")),
        "photo": OneOf("flower", ("flower", "china")),
        "picture": OneOf("a-star", ("a-star", "a-heart", "a-moon")),
        "shuffle": OneOf("none", ("none", "tokens", "patches")),
        "layer": Count(11, 0, 11),
        "head": Count(2, 0, 5),
        "position": Count(119, 0, 255),
    },
    steps=(
        Step(
            "cut",
            "A picture is cut into patches",
            (
                "A [[transformer]] reads a [[sequence]] of vectors, so a picture is cut into"
                " squares of {patch:d} × {patch:d} pixels, the [[patch|patches]]. This photo,"
                " scaled for DINOv2, a network that has learned from photos without labels, gives"
                " {count:d} of them, and each is {flat:d} numbers: three colour values per pixel.",
                "Why not single pixels? They would be {side:d}² = 50,176 tokens, and every head"
                " would need a weight for every pair of them.",
            ),
            code=(
                "x = image.unfold(2, p, p).unfold(3, p, p)",
                "shape = 'b c h w p q -> b (h w) (c p q)'",
                "x = rearrange(x, shape)",
            ),
        ),
        Step(
            "pixels",
            "Why patches, and not pixels",
            (
                "Every token looks at every token, so the weights grow with the *square* of their"
                " number. The 28 × 28 pixels of a handwritten digit would be 784 tokens, and every"
                " head a 784 × 784 [[matrix]]. At 224 × 224 a single head would need 9.4 GiB for"
                " its weights.",
                "Half the side of a patch means four times the patches, and sixteen times the"
                " weights: from patches of 14 to patches of 7, 65,536 become 1,048,576. A patch"
                " must divide the side of the picture: 16 does not divide 28.",
            ),
            board=True,
            computed=SIZES,
        ),
        Step(
            "sequence",
            "The patches lift off into a row",
            (
                "Row by row the patches are lined up, like the words of a text. One"
                " [[linear layer]], the same for all, maps the {flat:d} numbers of each patch to"
                " {width:d}: that is a [[token]]. A [[convolution]] whose stride equals its"
                " kernel size computes the same.",
            ),
            formulas=("x_{i} → x_{i} E,  i = 1 … N",),
        ),
        Step(
            "class",
            "A class token in front",
            (
                "One more vector is put in front, the [[class token]]. It is a parameter, the same"
                " for every picture, and stands for no patch: for a batch it is repeated. Its"
                " @query(query) can gather from all patches what the answer needs; with it there"
                " are {tokens:d} tokens.",
            ),
            code=(
                "c = class_token.expand(b, -1, -1)",
                "c = class_token.repeat(b, 1, 1)  # as good",
                "x = torch.cat([c, x], dim=1)",
            ),
            formulas=("[x_{class}; x_{1} E; …; x_{N} E]",),
        ),
        Step(
            "positions",
            "Positions are added",
            (
                "To each token a vector for its position is added. Press a bar below a patch: the"
                " bars show how similar each position's vector is to that one. Similar positions"
                " lie beside it, and also 16 positions before and after: there are the patches"
                " above and below it. The vectors encode row *and* column.",
                "Nobody told the network. These vectors are learned, as in the original, from the"
                " index in the sequence alone: for a grid of 37 × 37 patches, resampled here to"
                " 16 × 16. Other networks compute them from row and column, by sines and cosines.",
            ),
            formulas=("z_{0} = [x_{class}; x_{1} E; …; x_{N} E] + E_{pos}",),
            ask=Question(
                "Each position in the row gets a vector. Which other positions will have the most"
                " similar ones?",
                (
                    Option(
                        "Only the next ones in the row, before and after",
                        "Those, but not only: patches above and below each other in the picture are"
                        " 16 positions apart in the row, and their vectors are similar too.",
                    ),
                    Option(
                        "Its neighbours in the picture",
                        "Those beside it, and those 16 before and after, which lie above and"
                        " below.",
                        right=True,
                    ),
                    Option(
                        "None: every position's vector is unrelated",
                        "That would be a table of random numbers, as before training. In training"
                        " the vectors of neighbours became alike.",
                    ),
                ),
            ),
        ),
        Step(
            "shuffle",
            "Attention does not know where",
            (
                "If **tokens are shuffled together with their positions**, the class token's last"
                " vector stays as it was, apart from rounding. Every sum runs over all tokens, in"
                " whatever order. If **patches alone** are shuffled, each gets the position of"
                " another: that is another picture, and another vector. Now its cosine with what it"
                " was is {cosine:.3f}.",
                "So nothing in attention knows two dimensions. Cutting does, and so does resampling"
                " the learned positions for another image size.",
            ),
            tries=(
                Try("Tokens with positions", {"shuffle": "tokens"}),
                Try("Patches alone", {"shuffle": "patches"}),
            ),
            ask=Question(
                "All {count:d} patch tokens are shuffled, *after* their positions were added. What"
                " happens to the class token's last vector?",
                (
                    Option(
                        "It changes: the picture is scrambled",
                        "Each token still carries its position vector, and that is all the"
                        " network knows of where it lies.",
                    ),
                    Option(
                        "It stays the same",
                        "The class token's sums run over the same keys and values in another"
                        " order.",
                        right=True,
                    ),
                    Option(
                        "It becomes shorter",
                        "No number enters that depends on the order: only rounding differs.",
                    ),
                ),
            ),
            inputs={"shuffle": "tokens"},
        ),
        Step(
            "block",
            "Through the encoder's blocks",
            (
                "Each block is the [[pre-norm]] encoder block: the [[layer normalisation|norm]]"
                " stands *before* each layer, and the layer's output is added to what went in. The"
                " small grids show how long each patch's vector is after every step of block"
                " {block.layer:d}; the scales of DINOv2's layers are part of their outputs. The"
                " class token's has norm {block.class.0:.1f} at the start and {block.class.6:.1f}"
                " at the end.",
                "Attention is the only step in which patches meet; the [[feed-forward network|MLP]]"
                " processes one token at a time. Go through the layers, and compare the patches of"
                " the flower with the rest.",
            ),
            formulas=(
                "z′_{l} = MHSA(LN(z_{l−1})) + z_{l−1}",
                "z_{l} = MLP(LN(z′_{l})) + z′_{l}",
            ),
            code=(
                "z = z + attention(norm1(z))",
                "z = z + mlp(norm2(z))",
            ),
            tries=(
                Try("First block", {"layer": 0}),
                Try("Middle block", {"layer": 6}),
            ),
        ),
        Step(
            "attention",
            "Attention, back over the picture",
            (
                "The patches return to their places, lit by the @weight(weights) of the class"
                " token's @query(query) in one head of block {block.layer:d}; the brightest are"
                " those it attends to most, one of them with {largest:.1%}. It gives itself"
                " {own:.1%}.",
                "Go through layers and heads: they differ, and in early layers many give nearly all"
                " to the class token itself. A weight shows where the head reads, not what it takes"
                " from there.",
            ),
            formulas=("@weight(α) = softmax(@query(q_{class}) @key(K)^{T} / √d)",),
            tries=(
                Try("Layer 10, head 1", {"layer": 10, "head": 1}),
                Try("Layer 0, head 2", {"layer": 0, "head": 2}),
                Try("A temple", {"photo": "china"}),
            ),
        ),
        Step(
            "answer",
            "One token becomes the answer",
            (
                "DINOv2 gives no answer, so here is a small network, trained to name drawn objects."
                " After {depth:d} blocks the state of the class token is normalised: the head reads"
                " only y; the outputs of the patches are ignored. One linear layer turns y into"
                " @output(logits), and a [[softmax]] for each question into probabilities:"
                " “{answer.name:s}” gets {answer.share:.0%}.",
            ),
            formulas=("y = LN(z_{L}^{0})", "@output(logits) = W y + b"),
            code=(
                "z = blocks(z)  # token × width",
                "y = layer_norm(z[0])  # the class token",
                "@output(logits) = y @ W.T + b",
            ),
            tries=(
                Try("A heart", {**SMALL, "picture": "a-heart"}),
                Try("A moon, scrambled", {**SMALL, "picture": "a-moon", "shuffle": "patches"}),
            ),
            inputs=SMALL,
            computed="these weights: those of a small vision transformer trained on such pictures",
        ),
        Step(
            "needs",
            "What the class token needs",
            (
                "The map has the weights of DINOv2's class token in the last layer, the mean of all"
                " heads, for the photo of a flower: they light up the flower.",
                "Does it need what it attends to? A quarter of the patches is hidden from it in"
                " every layer. Without those of most weight, {board.held:.0%} of it, its last"
                " vector has a cosine of {board.most:.3f} with what it was; with as many hidden at"
                " random, {board.draws:d} times, it is {board.worst:.3f} or more: here the map"
                " points at what matters.",
            ),
            board=True,
            computed="these weights: those of the trained DINOv2",
        ),
        Step(
            "sizes",
            "The same in six steps, with shapes",
            (
                "A photo of 224 × 224 pixels in patches of 14 × 14: 256 patches of 588 numbers,"
                " projected to width 128, with the class token 257 tokens. Eight heads of 64 and"
                " 2,048 hidden units; six such blocks; 1,000 classes. The first axis is the batch:"
                " here one picture.",
                "The numbers of a patch may be in the order row, column, channel, or channel"
                " first: red of all pixels, then green, then blue. A network works with either,"
                " but only with the one it was trained on.",
            ),
            code=(
                "cut = 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)'",
                "x = rearrange(image, cut, p1=14, p2=14)",
                "x = linear(x)  # 588 → 128",
                "c = repeat(class_token, '1 1 d -> b 1 d', b=b)",
                "x = cat([c, x], dim=1) + positions[:, : n + 1]",
                "x = dropout(x)",
            ),
            board=True,
            computed=SIZES,
        ),
        Step(
            "count",
            "How many parameters",
            (
                "Counted from the sizes alone. 256 × 256 pixels in patches of 32, width 1,024, six"
                " blocks of 16 heads: {board.vit_32:,d} [[parameters]]. ViT-B/16, with 12 blocks"
                " of width 768: {board.vit_b16:,d}, as in the authors' own model.",
                "The third has neither projection nor class token: patches of 16 × 16 × 3 = 768"
                " numbers are its tokens, and its head is an MLP with layers of 1,000, 1,000 and"
                " 10 neurons that reads all 256 tokens as one vector of {board.reads:,d} numbers:"
                " {board.first:,d} weights in its first layer. Each hidden layer is dropout,"
                " linear, BatchNorm and an activation.",
            ),
            code=("sum(p.numel() for p in model.parameters())",),
            board=True,
            computed=SIZES,
        ),
        Step(
            "train",
            "Pretraining and fine-tuning",
            (
                "A vision transformer assumes little: not even that neighbouring pixels belong"
                " together, which a [[convolution]] takes for granted. It has to learn that, and"
                " on a small set of pictures it does worse than a convolutional network. So it is"
                " trained in two steps (Dosovitskiy et al. 2021, section 3.2)."
                " [[pretraining|Pretraining]] uses many millions of labelled pictures, whatever"
                " they show.",
                "[[fine-tuning|Fine-tuning]] replaces the head by a new one, which starts at zero,"
                " for the classes that are wanted, and trains everything a little further. For"
                " larger pictures the patches keep their size, so there are more of them, and the"
                " learned positions are resampled to the finer grid.",
            ),
            board=True,
            computed=SIZES,
        ),
        Step(
            "frames",
            "A spectrogram is a sequence too",
            (
                "Sound becomes a picture as well. Every {board.step:.0f} ms a column of"
                " {board.bands:d} numbers says how loud each band of frequency is; brighter is"
                " louder, and high tones are at the top. Whisper fills every recording up to 30 s:"
                " {board.columns:,d} columns. This one lasts {board.seconds:.1f} s.",
                "Two convolutions stand where the linear layer of a patch stood. The second has"
                " stride 2, so two columns become one [[token]]: {board.tokens:,d} of"
                " {board.width:d} numbers, {board.heard:d} of them heard. But these kernels"
                " overlap: a token sees {board.sees:d} columns, {board.seen:d} numbers. Positions"
                " are added, here by sines, and the same encoder blocks follow.",
                "Below are the @weight(weights) of token {board.token:d}. {board.far:.0%} of them"
                " lie more than {board.beyond:.1f} s away: as between patches, no distance is too"
                " far. Other networks cut a spectrogram into square patches, as a photo (Gong et"
                " al. 2021).",
            ),
            code=(
                "x = gelu(conv1(mel))  # 384 × 3,000",
                "x = gelu(conv2(x))  # 384 × 1,500",
                "x = x.T + positions  # 1,500 × 384",
            ),
            tries=(
                Try("A head that looks back", {**HEARD, "layer": 3, "head": 4}),
                Try("A vowel", {**HEARD, "position": 30}),
            ),
            inputs=HEARD,
            board=True,
            computed="these weights: those of Whisper tiny.en",
        ),
    ),
    takeaways=(
        "An image is a sentence whose words are patches. All that follows is the encoder you know.",
        "Half the patch side means four times the patches, and about sixteen times the attention"
        " weights.",
        "The class token gathers what the head needs; the outputs of the patches are ignored.",
        "Cutting patches, and resampling positions for another image size, are the only steps that"
        " use the image's two dimensions (Dosovitskiy et al. 2021, section 3.1): everything else"
        " about space is learned from data.",
    ),
    misreading=Misreading(
        "The network is told which patches are neighbours.",
        "Position vectors are learned; only cutting, and resampling positions for another size,"
        " use the image's two dimensions.",
    ),
    plan=Plan(
        aim="An image becomes a sequence of patches; the rest is the encoder of lesson 9.",
        show="The patches that lift off; shuffled tokens; the six steps with their shapes; patches"
        " of 7 instead of 14.",
        ask="Patches half as wide and high: about how many times the attention weights in a head?"
        " 2 · 4 · 8 · **16**.",
    ),
    code=(
        "models.patches.cut",
        "models.patches.Patches.forward",
        "models.vit.ViT.embed",
        "models.blocks.PreNormBlock.forward",
        "models.vit.ViT.forward",
        "models.lessons.vit_steps.vit_steps",
    ),
    pages=(
        Page(
            "Open a photo and an untrained network in the explorer",
            "explore",
            {"model": "built-vit", "photo": "flower", "layer": 0, "head": 0},
        ),
        Page("ViT 256/32, part by part", "architecture", {"preset": "vit-32"}),
    ),
    exercise="10-vision-transformer",
)
