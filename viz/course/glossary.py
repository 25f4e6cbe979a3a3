"""The glossary: a one-sentence definition of every term in the lessons."""

TERMS = {
    "activation": "A function applied to every number by itself, such as ReLU, which sets negative"
    " numbers to 0.",
    "additive attention": "A score from a small network: vᵀ tanh(W q + U k).",
    "alignment": "Which input words an output word looks at: the cross-attention weights.",
    "attention": "For every query, a weighted sum of values; each weight depends on how well its"
    " query matches the key.",
    "attention pooling": "Another name for the weighted sum of values.",
    "average pooling": "All weights are equal: the answer is the mean of the values.",
    "batch": "Several inputs that go through the network at once, independently.",
    "batch normalisation": "Normalises each feature over the whole batch, so that one input's"
    " result depends on the others.",
    "beam search": "Keeps the few likeliest beginnings of a text at each step instead of one.",
    "bias": "A learned number that is added to a result.",
    "bilinear score": "qᵀ M k: a learned matrix between query and key, which may differ in width.",
    "causal mask": "Hides from each position everything that comes after it.",
    "class token": "A learned vector put before the patches; its final state is used to classify"
    " the image.",
    "convex combination": "A weighted sum whose weights are not negative and sum to 1: it stays"
    " between the values.",
    "convex cone": "All weighted sums whose weights are not negative; they need not sum to 1.",
    "convolution": "A layer that looks at a small window, the same way everywhere.",
    "cosine similarity": "The dot product of two vectors divided by their lengths: 1 for the same"
    " direction, 0 for a right angle.",
    "cross-attention": "Queries come from the decoder, keys and values from the encoder.",
    "cross entropy": "Minus the logarithm of the probability given to the right answer: 0 is best.",
    "decoder": "The part that writes the output, one token at a time.",
    "dot product": "The sum of the products of two vectors, number by number.",
    "dropout": "While training, some numbers are set to zero at random so that the network does not"
    " rely on any of them.",
    "edit distance": "How many letters have to be inserted, removed or replaced to turn one"
    " word into another (Levenshtein).",
    "embedding": "A vector that represents a word or a text, learned so that similar meanings get"
    " similar vectors.",
    "encoder": "The part that reads the whole input at once.",
    "end symbol": "A token that marks the end of the text.",
    "feature": "One of the numbers of a vector.",
    "feed-forward network": "Two linear layers with an activation between them, applied to every"
    " token alone.",
    "fine-tuning": "Training a pretrained model a little further on a task of one's own.",
    "gradient": "How much a result changes when a number is changed a little; training follows it.",
    "greedy": "Takes the likeliest token at every step.",
    "half precision": "Numbers of 16 bits. float16 goes up to 65,504 with three to four digits;"
    " bfloat16 has the range of float32 with two to three digits.",
    "head": "One of several attentions that run in parallel, each with its own matrices.",
    "head layer": "The last layer: it turns a vector into one score per class or word.",
    "key": "What a token can be matched on; compared with queries.",
    "label smoothing": "A target of a little less than 1 for the right answer and a little more"
    " than 0 for the others.",
    "layer normalisation": "Normalises the features of each token to mean 0 and deviation 1, then"
    " scales and shifts them by learned numbers (Ba et al. 2016).",
    "linear layer": "Multiplies by a learned matrix W and adds a learned bias b.",
    "logits": "Scores before the softmax; any number.",
    "mask": "Hides keys from a query: their weight is exactly 0.",
    "matrix": "Numbers in rows and columns.",
    "minilm": "all-MiniLM-L6-v2: a small trained encoder of 6 layers with 12 heads each.",
    "multi-head attention": "Several heads on the same input; their results are put side by side"
    " and mixed by a matrix.",
    "one-hot": "All the weight on the best match: 1 there, 0 elsewhere.",
    "overflow": "A result too large for its number format; it becomes infinite.",
    "padding": "Tokens without meaning that make all texts of a batch equally long.",
    "parallelism": "Computing many results at the same time, because none depends on another.",
    "parameters": "The numbers that training sets.",
    "patch": "A small square of an image; the tokens of a vision transformer.",
    "permutation": "A reordering of the same things.",
    "positional encoding": "A vector for each position, added to the token's, so that attention can"
    " use their order.",
    "pre-norm": "The norm stands before attention and feed-forward network, inside the residual"
    " branch.",
    "post-norm": "The norm stands after the sum with the residual, as in the first transformer.",
    "pretraining": "Training on a large general task first.",
    "projection": "A multiplication by a learned matrix that changes a vector's width.",
    "query": "What a token is looking for; compared with keys.",
    "recurrence": "Reading a text one token after another, with a state carried along.",
    "residual connection": "The input of a layer is added to its output.",
    "scaled dot product": "The dot product of query and key divided by √d, d being their width.",
    "score": "How well a query and a key match, before the softmax.",
    "self-attention": "Queries, keys and values all come from the same tokens.",
    "sequence": "Tokens in order.",
    "shape": "The size of an array along each axis.",
    "similarity": "A number that is large when two things are similar.",
    "softmax": "exp of every score, divided by their sum: weights above 0 that sum to 1.",
    "standard deviation": "The square root of the variance.",
    "temperature": "Scores are divided by it before the softmax: below 1 the weights get sharper,"
    " above 1 flatter.",
    "token": "A piece of text: a word, a part of a word, or a symbol.",
    "top-k": "Only the k best are used.",
    "transformer": "A network of attention and feed-forward layers (Vaswani et al. 2017).",
    "value": "What a token passes on when it is attended to.",
    "variance": "The mean of the squared differences from the mean.",
    "vector": "A list of numbers.",
    "vocabulary": "All tokens that a model knows.",
    "weight sharing": "The same matrix in more than one place.",
    "weights": "How much each key contributes for a query: after the softmax, non-negative, summing"
    " to 1 in every row.",
    "width": "The number of features of a vector.",
}
