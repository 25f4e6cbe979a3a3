// Written by `python -m viz.declared` from viz/selection.py, viz/views and analysis/methods.py.

/** @import {MethodInfo, Options} from "../types" */

/** @type {Options} before anything is chosen */
export const START = {
  scale: "fixed", token: null, direction: "out", shown: "", form: "matrix", values: "weights", sinks: "shown",
  outliers: "no", partner: null, find: "", block: "all", method: "rollout", output: "", versus: "",
  lens: "logit", tested: "no", matter: "no", patched: "", states: "no", proof: "deletion", followed: "answer",
  there: "", lab: "", plot: "", rank: "", timing: "", captions: "", caption: "", rival: "", relevant: "no",
  area: "", moment: 0,
};

/**
 * Every form of a view or file: the label of its button, what it shows, and whether
 * it covers heads of a layer, all layers together, or every head.
 */
export const FORMS = {
  matrix: { label: "Matrix", title: "Each weight as a cell: rows attend, columns are attended to", covers: "heads" },
  lines: { label: "Lines", title: "Each weight as a line between two columns of tokens", covers: "heads" },
  text: { label: "Text", title: "The text shaded by each head that is switched on", covers: "heads" },
  head: {
    label: "Inside a head",
    title: "One query and key of one head: their product, the steps to the weight, what the head writes",
    covers: "heads",
  },
  sound: {
    label: "Over time",
    title: "When each word of a recording is spoken, and where a head listens while it is written",
    covers: "heads",
  },
  model: {
    label: "All layers", title: "Every layer at once: rollout, flow, norms, relevance for an output",
    covers: "layers",
  },
  faithfulness: {
    label: "Faithfulness curves", title: "The output without the relevant tokens, and with them alone",
    covers: "layers",
  },
  lens: {
    label: "Lens", title: "What each layer would predict at each token, had the network ended there",
    covers: "layers",
  },
  parts: { label: "Parts", title: "What each head and each MLP adds to the logit of an output", covers: "layers" },
  blame: {
    label: "Blame", title: "The edges that an output rests on, and its probability without them",
    covers: "layers",
  },
  atlas: { label: "Every head", title: "All layers and heads as thumbnails", covers: "every" },
  numbers: { label: "Numbers of every head", title: "A matrix of layers and heads for each number", covers: "every" },
  pictures: {
    label: "Over the pictures",
    title: "Where a word of an answer, or another token, looked on the pictures beside the text; or the captions of a picture, their similarities and maps",
    covers: "heads",
  },
  features: {
    label: "Features",
    title: "The last states of the patches by their principal components, and which are alike",
    covers: "layers",
  },
  image: { label: "Picture", title: "The weights of one token over the picture", covers: "heads" },
};

/**
 * The forms that a view is switched between.
 *
 * @type {Record<"text" | "image", readonly Options["form"][]>}
 */
export const ON_SCREEN = {
  text: ["matrix", "lines", "text", "head", "sound", "model", "lens", "parts"],
  image: ["image", "matrix", "head", "model", "features"],
};

/** @type {MethodInfo[]} the methods for the whole model */
export const METHODS = [
  {
    name: "mean", title: "Mean of all heads", kind: "map", of: "tower",
    shows: "The mean weight over every head of every layer.",
    doubt: "Attention weights are not contributions: values, norms and feed-forward networks do not enter.",
    formula: "mean over l and h of A[l, h, i, j]", source: "plain average", low: 0, high: 1,
  },
  {
    name: "max", title: "Maximum of all heads", kind: "map", of: "tower",
    shows: "The largest weight that any head of any layer gives.",
    doubt: "One head out of many is enough to make a cell strong. Attention weights are not contributions: values, norms and feed-forward networks do not enter.",
    formula: "max over l and h of A[l, h, i, j]", source: "plain maximum", low: 0, high: 1,
  },
  {
    name: "rollout", title: "Rollout", kind: "map", of: "tower",
    shows: "How much of each input token is in each token of the last layer: the layers’ weights, the residual connection added to each, multiplied.",
    doubt: "A product of averages. Attention weights are not contributions: values, norms and feed-forward networks do not enter.",
    formula: "Ã_L … Ã_1, Ã = fused(A) + I, rows divided by their sums",
    source: "Abnar and Zuidema 2020, equation 1", low: 0, high: 1,
  },
  {
    name: "flow", title: "Attention flow", kind: "row", of: "tower",
    shows: "The largest stream that the weights of all layers, as pipes, can carry from the chosen token to each input token.",
    doubt: "Each number is a problem of its own: they do not add up. In deep models most equal what the first layer lets through, whatever the layers above do. Attention weights are not contributions: values, norms and feed-forward networks do not enter.",
    formula: "maximum flow from i in the last layer to j, capacities Ã as for rollout",
    source: "Abnar and Zuidema 2020, section 3", low: 0, high: 1,
  },
  {
    name: "alti", title: "ALTI", kind: "map", of: "tower",
    shows: "How much nearer each token’s vector, residual connection and norm included, brings a token to its layer’s output; the layers multiplied.",
    doubt: "Feed-forward networks do not enter, and nearness of vectors is not use by later layers.",
    formula: "C_L … C_1, C[i, j] = max(0, ‖y[i]‖₁ − ‖y[i] − y[i, j]‖₁) by the sum of its row",
    source: "Ferrando et al. 2022, equations 9 to 11", low: 0, high: 1,
  },
  {
    name: "norms", title: "Norms of this head", kind: "map", of: "head",
    shows: "The length of the vector that each key adds: weight times value, through the output projection.",
    doubt: "Vectors of several heads can cancel, and a long one need not be used by later layers.",
    formula: "‖A[i, j] v[j] W_O‖", source: "Kobayashi et al. 2020, equation 3", low: 0, high: null,
  },
  {
    name: "gradient", title: "Attention × gradient", kind: "relevance", of: "tower",
    shows: "Weights times their gradients, summed over layers, heads and queries, for one output.",
    doubt: "A gradient tells what a small change would do, not what the token did. It is not proof that the token causes the output: removing tokens tests that.",
    formula: "Σ over l, h and i of A[l, h, i, j] ∂y/∂A[l, h, i, j]",
    source: "attention times gradient, summed", low: null, high: null,
  },
  {
    name: "chefer", title: "Relevance (Chefer)", kind: "relevance", of: "tower",
    shows: "Positive products of weights and gradients, carried through the layers to the input, for one output.",
    doubt: "What speaks against the output is left out by rule. It is not proof that the token causes the output: removing tokens tests that.",
    formula: "R ← R + E R, E = mean over h of max(0, A ∂y/∂A), layer by layer",
    source: "Chefer et al. 2021, equations 5 to 11", low: 0, high: null,
  },
  {
    name: "attnlrp", title: "Relevance (AttnLRP)", kind: "relevance", of: "tower",
    shows: "The output’s number handed back through every layer, feed-forward networks included, until each input token has its part.",
    doubt: "Parts are assigned by rules, not measured. It is not proof that the token causes the output: removing tokens tests that. The authors of LXT, its reference code, call layer-wise relevance propagation a patented technology, free for personal and scientific use.",
    formula: "Σ over features of x ∂y/∂x, by the rules of AttnLRP", source: "Achtibat et al. 2024, section 3",
    low: null, high: null,
  },
];
