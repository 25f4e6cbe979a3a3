// Written by `python -m viz.declared` from viz/selection.py, viz/views and analysis/methods.py.

/**
 * What is chosen in a view, beside the site and its head.
 *
 * @typedef {object} Options
 * @property {"fixed" | "own" | "log" | "layer"} scale colours from 0 to 1, up to the largest weight shown, by decades, or of a picture up to the largest weight of a patch in any head of the layer
 * @property {number | null} token whose weights are drawn
 * @property {"out" | "in"} direction what the token attends to, or what attends to it
 * @property {string} shown several heads beside each other, instead of the one that is chosen
 * @property {"matrix" | "lines" | "text" | "head" | "sound" | "model" | "lens" | "parts" | "features"} form how one head is drawn
 * @property {"weights" | "scores" | "difference"} values weights, scores before the softmax, or in a file what edits changed in the weights
 * @property {"shown" | "hidden" | "renormalised"} sinks the first token, special ones and those that take over half of a head's weight, of a picture the class token and registers: shown, hidden, or hidden and the rest of each row divided by its sum
 * @property {"no" | "yes"} outliers of a picture: patches that act as sinks too
 * @property {number | null} partner the other token of a pair
 * @property {string} layers of text: several layers beside each other, instead of the chosen one
 * @property {number} least smaller weights are not drawn
 * @property {number} top strongest keys of each row, outlined or, of lines, alone drawn; 0 for all
 * @property {string} find what is searched for in the tokens
 * @property {string} rows queries such as 0-12, the end excluded
 * @property {string} columns keys such as 0-12, the end excluded
 * @property {"all" | "aa" | "ab" | "ba" | "bb"} block from which text of a pair to which; a is the first, or the source of a joint map
 * @property {"mean" | "max" | "rollout" | "flow" | "alti" | "norms" | "gradient" | "chefer" | "attnlrp"} method of all layers together
 * @property {string} output what a relevance, lens, parts and blame explain: the name of a class or token, as mat or mat@3 (at a position), or of a model without them a second sentence; else the likeliest output
 * @property {string} versus of parts: a second output, such as hat, whose logit is subtracted
 * @property {"logit" | "jacobian"} lens whether a state is read as it is, or carried to the last layer by a mean Jacobian
 * @property {"no" | "yes"} tested of model: with the faithfulness of a relevance; of parts: with blame
 * @property {"no" | "zero" | "mean"} matter of parts and of a picture: every head switched off in turn, its values zero or their mean
 * @property {string} patched of parts: a second text, whose states are patched in one at a time
 * @property {string} states of two pictures: which states of the second one matter; how many are patched exactly, then the layer and token of the one that is read
 * @property {"deletion" | "insertion"} proof of a picture, what tests a relevance: the probability as patches are greyed out, or put back into a blurred picture
 * @property {"answer" | "token"} followed of a picture, where a method without an output begins: what the answer is read from, or the chosen token
 * @property {"above" | "below" | "all"} foreground of features: the side of the threshold whose patches are coloured, or all of them
 * @property {number} deviations of features: the threshold of the first component, in its standard deviations
 * @property {"mean" | "max" | "min"} fusion of rollout and flow: how the heads of a layer are fused
 * @property {number} discard of rollout: share of each layer's smallest weights that is left out
 * @property {string} there layer and head of the model beside the first, such as 3,5, and then kind, tower, module and part where these differ; those of the first without it
 * @property {"atlas" | "table"} overview how every head is shown
 * @property {string} plot keys of the two numbers by which heads are placed as dots
 * @property {string} rank the number by which heads are ranked, with - for the least first
 * @property {string} conditions conditions on the numbers of heads, such as induction:> 0.3;entropy:< 2
 * @property {"" | "named" | "found" | "characters"} timing of a recording, what the times of its words are made from: the heads that the checkpoint names, those that follow time best, or single characters
 * @property {string} captions of a model that compares pictures with texts, its captions to compare, split by |
 * @property {string} caption the caption among them that is chosen
 * @property {string} rival of an answer, a word that the chosen one is compared with
 * @property {"no" | "yes"} relevant of an answer, the relevance for its word in place of weights
 * @property {string} area of an answer, an area of a picture that a word may need
 * @property {"mean" | "blur" | "cut"} mask how that area is hidden: in the picture's mean colour, blurred, or its tokens cut
 * @property {number} moment of a video, which of the groups of frames that share tokens
 * @property {"colour" | "grey"} ground the picture below the weights
 * @property {number} opacity of weights over a picture, in percent
 */
/** @type {Options} before anything is chosen */
export const START = {
  scale: "fixed",
  token: null,
  direction: "out",
  shown: "",
  form: "matrix",
  values: "weights",
  sinks: "shown",
  outliers: "no",
  partner: null,
  layers: "",
  least: 0,
  top: 0,
  find: "",
  rows: "",
  columns: "",
  block: "all",
  method: "rollout",
  output: "",
  versus: "",
  lens: "logit",
  tested: "no",
  matter: "no",
  patched: "",
  states: "",
  proof: "deletion",
  followed: "answer",
  foreground: "all",
  deviations: 0,
  fusion: "mean",
  discard: 0,
  there: "",
  overview: "atlas",
  plot: "",
  rank: "",
  conditions: "",
  timing: "",
  captions: "",
  caption: "",
  rival: "",
  relevant: "no",
  area: "",
  mask: "mean",
  moment: 0,
  ground: "colour",
  opacity: 100,
};

/**
 * Every form of a view or file: the label of its button, what it shows, whether its
 * numbers are grouped as the weights of the view are, and whether it covers heads of
 * a layer, all layers together, or every head.
 */
export const FORMS = {
  matrix: {
    label: "Matrix",
    title: "Each weight as a cell: rows attend, columns are attended to",
    grouped: true,
    covers: "heads",
  },
  lines: {
    label: "Lines",
    title: "Each weight as a line between two columns of tokens",
    grouped: true,
    covers: "heads",
  },
  text: {
    label: "Text",
    title: "The text shaded by each head that is switched on",
    grouped: true,
    covers: "heads",
  },
  head: {
    label: "Inside a head",
    title: "One query and key of one head: their product, the steps to the weight, what the head writes",
    grouped: false,
    covers: "heads",
  },
  sound: {
    label: "Over time",
    title: "When each word of a recording is spoken, and where a head listens while it is written",
    grouped: true,
    covers: "heads",
  },
  model: {
    label: "All layers",
    title: "Every layer at once: rollout, flow, norms, relevance for an output",
    grouped: false,
    covers: "layers",
  },
  faithfulness: {
    label: "Faithfulness curves",
    title: "The output without the relevant tokens, and with them alone",
    grouped: false,
    covers: "layers",
  },
  lens: {
    label: "Lens",
    title: "What each layer would predict at each token, had the network ended there",
    grouped: false,
    covers: "layers",
  },
  parts: {
    label: "Parts",
    title: "What each head and each MLP adds to the logit of an output",
    grouped: false,
    covers: "layers",
  },
  blame: {
    label: "Blame",
    title: "The edges that an output rests on, and its probability without them",
    grouped: false,
    covers: "layers",
  },
  atlas: {
    label: "Every head",
    title: "All layers and heads as thumbnails",
    grouped: true,
    covers: "every",
  },
  numbers: {
    label: "Numbers of every head",
    title: "A matrix of layers and heads for each number",
    grouped: true,
    covers: "every",
  },
  pictures: {
    label: "Over the pictures",
    title: "Where a word of an answer, or another token, looked on the pictures beside the text; or the captions of a picture, their similarities and maps",
    grouped: false,
    covers: "heads",
  },
  features: {
    label: "Features",
    title: "The last states of the patches by their principal components, and which are alike",
    grouped: true,
    covers: "layers",
  },
  image: {
    label: "Picture",
    title: "The weights of one token over the picture",
    grouped: true,
    covers: "heads",
  },
};

/**
 * The forms that a view is switched between.
 *
 * @type {Record<"text" | "image", readonly Options["form"][]>}
 */
export const ON_SCREEN = {
  text: ["matrix", "lines", "text", "head", "sound", "model", "lens", "parts"],
  image: ["matrix", "model", "features"],
};

/**
 * @typedef {object} MethodInfo
 * @property {Options["method"]} name as in requests
 * @property {string} title
 * @property {"map" | "row" | "relevance"} kind
 * @property {"tower" | "head"} of what it is about
 * @property {string} shows
 * @property {string} doubt what it does not prove
 * @property {string} formula
 * @property {string} source where it comes from
 * @property {number | null} low its range by definition; null where it has no bound
 * @property {number | null} high
 * @property {readonly ("fusion" | "discard")[]} fused what can be chosen of
 *   how the heads of a layer are fused
 */
/** @type {MethodInfo[]} the methods for the whole model */
export const METHODS = [
  {
    name: "mean",
    title: "Mean of all heads",
    kind: "map",
    of: "tower",
    shows: "The mean weight over every head of every layer.",
    doubt: "Attention weights are not contributions: values, norms and feed-forward networks do not enter.",
    formula: "mean over l and h of A[l, h, i, j]",
    source: "plain average",
    low: 0,
    high: 1,
    fused: [],
  },
  {
    name: "max",
    title: "Maximum of all heads",
    kind: "map",
    of: "tower",
    shows: "The largest weight that any head of any layer gives.",
    doubt: "One head out of many is enough to make a cell strong. Attention weights are not contributions: values, norms and feed-forward networks do not enter.",
    formula: "max over l and h of A[l, h, i, j]",
    source: "plain maximum",
    low: 0,
    high: 1,
    fused: [],
  },
  {
    name: "rollout",
    title: "Rollout",
    kind: "map",
    of: "tower",
    shows: "How much of each input token is in each token of the last layer: the layers’ weights, the residual connection added to each, multiplied.",
    doubt: "A product of averages. Attention weights are not contributions: values, norms and feed-forward networks do not enter.",
    formula: "Ã_L … Ã_1, Ã = fused(A) + I, rows divided by their sums",
    source: "Abnar and Zuidema 2020, equation 1",
    low: 0,
    high: 1,
    fused: ["fusion", "discard"],
  },
  {
    name: "flow",
    title: "Attention flow",
    kind: "row",
    of: "tower",
    shows: "The largest stream that the weights of all layers, as pipes, can carry from the chosen token to each input token.",
    doubt: "Each number is a problem of its own: they do not add up. In deep models most equal what the first layer lets through, whatever the layers above do. Attention weights are not contributions: values, norms and feed-forward networks do not enter.",
    formula: "maximum flow from i in the last layer to j, capacities Ã as for rollout",
    source: "Abnar and Zuidema 2020, section 3",
    low: 0,
    high: 1,
    fused: ["fusion"],
  },
  {
    name: "alti",
    title: "ALTI",
    kind: "map",
    of: "tower",
    shows: "How much nearer each token’s vector, residual connection and norm included, brings a token to its layer’s output; the layers multiplied.",
    doubt: "Feed-forward networks do not enter, and nearness of vectors is not use by later layers.",
    formula: "C_L … C_1, C[i, j] = max(0, ‖y[i]‖₁ − ‖y[i] − y[i, j]‖₁) by the sum of its row",
    source: "Ferrando et al. 2022, equations 9 to 11",
    low: 0,
    high: 1,
    fused: [],
  },
  {
    name: "norms",
    title: "Norms of this head",
    kind: "map",
    of: "head",
    shows: "The length of the vector that each key adds: weight times value, through the output projection.",
    doubt: "Vectors of several heads can cancel, and a long one need not be used by later layers.",
    formula: "‖A[i, j] v[j] W_O‖",
    source: "Kobayashi et al. 2020, equation 3",
    low: 0,
    high: null,
    fused: [],
  },
  {
    name: "gradient",
    title: "Attention × gradient",
    kind: "relevance",
    of: "tower",
    shows: "Weights times their gradients, summed over layers, heads and queries, for one output.",
    doubt: "A gradient tells what a small change would do, not what the token did. It is not proof that the token causes the output: removing tokens tests that.",
    formula: "Σ over l, h and i of A[l, h, i, j] ∂y/∂A[l, h, i, j]",
    source: "attention times gradient, summed",
    low: null,
    high: null,
    fused: [],
  },
  {
    name: "chefer",
    title: "Relevance (Chefer)",
    kind: "relevance",
    of: "tower",
    shows: "Positive products of weights and gradients, carried through the layers to the input, for one output.",
    doubt: "What speaks against the output is left out by rule. It is not proof that the token causes the output: removing tokens tests that.",
    formula: "R ← R + E R, E = mean over h of max(0, A ∂y/∂A), layer by layer",
    source: "Chefer et al. 2021, equations 5 to 11",
    low: 0,
    high: null,
    fused: [],
  },
  {
    name: "attnlrp",
    title: "Relevance (AttnLRP)",
    kind: "relevance",
    of: "tower",
    shows: "The output’s number handed back through every layer, feed-forward networks included, until each input token has its part.",
    doubt: "Parts are assigned by rules, not measured. It is not proof that the token causes the output: removing tokens tests that. The authors of LXT, its reference code, call layer-wise relevance propagation a patented technology, free for personal and scientific use.",
    formula: "Σ over features of x ∂y/∂x, by the rules of AttnLRP",
    source: "Achtibat et al. 2024, section 3",
    low: null,
    high: null,
    fused: [],
  },
];
