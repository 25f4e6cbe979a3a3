// The methods of the whole-model form: what each shows, and what it does not prove.

/** @import {Fusion, Method, Selection} from "../types" */

/**
 * How a method makes the heads of a layer one, and the share of the smallest weights it leaves out.
 *
 * @typedef {{fusion: Fusion, discard: number}} Fused
 */

/**
 * @typedef {object} MethodInfo
 * @property {Method} name as in the requests
 * @property {string} label
 * @property {"map" | "flow" | "relevance"} kind
 * @property {"tower" | "layer" | "head"} of what it is about
 * @property {string} shows
 * @property {string} doubt what it does not prove
 * @property {readonly ("fusion" | "discard")[]} [fused] how the heads of a layer are fused, as far
 *   as that can be chosen
 */

const AVERAGES = "Attention weights are not contributions: values, norms and feed-forward networks do not enter.";
const REMOVAL = "It is not proof that the token causes the output: removing tokens, below, tests that.";
const PATENT =
  "The authors of LXT, its reference code, call layer-wise relevance propagation a patented" +
  " technology, free for personal and scientific use.";

/** @type {MethodInfo[]} */
export const METHODS = [
  {
    name: "mean",
    label: "Mean of all heads",
    kind: "map",
    of: "tower",
    shows: "The mean weight over every head of every layer.",
    doubt: AVERAGES,
  },
  {
    name: "max",
    label: "Maximum of all heads",
    kind: "map",
    of: "tower",
    shows: "The largest weight that any head of any layer gives.",
    doubt: `One head out of many is enough to make a cell strong. ${AVERAGES}`,
  },
  {
    name: "rollout",
    label: "Rollout",
    kind: "map",
    of: "tower",
    shows:
      "How much of each input token is in each token of the last layer: the layers’ weights, the" +
      " residual connection added to each, multiplied.",
    doubt: `A product of averages. ${AVERAGES}`,
    fused: ["fusion", "discard"],
  },
  {
    name: "flow",
    label: "Attention flow",
    kind: "flow",
    of: "tower",
    shows:
      "The largest stream that the weights of all layers, as pipes, can carry from the chosen token" +
      " to each input token.",
    doubt:
      "Each number is a problem of its own: they do not add up. In deep models most equal what the" +
      ` first layer lets through, whatever the layers above do. ${AVERAGES}`,
    fused: ["fusion"],
  },
  {
    name: "alti",
    label: "ALTI",
    kind: "map",
    of: "tower",
    shows:
      "How much nearer each token’s vector, residual connection and norm included, brings a token to" +
      " its layer’s output; the layers multiplied.",
    doubt: "Feed-forward networks do not enter, and nearness of vectors is not use by later layers.",
  },
  {
    name: "decompx",
    label: "DecompX",
    kind: "flow",
    of: "tower",
    shows:
      "The length of each input token’s part of the chosen token’s last hidden state, followed through" +
      " every layer: norms, residual connections and feed-forward networks included.",
    doubt:
      "Attention weights are taken as they are: what a token does by drawing attention is not counted." +
      " Parts can cancel, and a long one need not be used by the output.",
  },
  {
    name: "norms",
    label: "Norms of this head",
    kind: "map",
    of: "head",
    shows:
      "The length of the vector that each key adds: weight times value, through the output projection.",
    doubt: "Vectors of several heads can cancel, and a long one need not be used by later layers.",
  },
  {
    name: "added",
    label: "Norms of this layer",
    kind: "map",
    of: "layer",
    shows:
      "The length of what each token adds to a token, all heads together, with the residual" +
      " connection on the diagonal and the norm behind it.",
    doubt: "A length says nothing of direction: what is long need not be used by later layers.",
  },
  {
    name: "gradient",
    label: "Attention × gradient",
    kind: "relevance",
    of: "tower",
    shows: "Weights times their gradients, summed over layers, heads and queries, for one output.",
    doubt: `A gradient tells what a small change would do, not what the token did. ${REMOVAL}`,
  },
  {
    name: "chefer",
    label: "Relevance (Chefer)",
    kind: "relevance",
    of: "tower",
    shows:
      "Positive products of weights and gradients, carried through the layers to the input, for one" +
      " output.",
    doubt: `What speaks against the output is left out by rule. ${REMOVAL}`,
  },
  {
    name: "attnlrp",
    label: "Relevance (AttnLRP)",
    kind: "relevance",
    of: "tower",
    shows:
      "The output’s number handed back through every layer, feed-forward networks included, until" +
      " each input token has its part.",
    doubt: `Parts are assigned by rules, not measured. ${REMOVAL} ${PATENT}`,
  },
];

/**
 * @param {string} name
 * @returns {MethodInfo}
 */
export const methodOf = (name) => METHODS.find((each) => each.name === name) ?? METHODS[2];

/** @type {Record<Fusion, string>} */
const FUSED = {
  mean: "their mean weight",
  max: "their largest weight in each cell",
  min: "their smallest weight in each cell",
};

/** @type {Record<Fusion, string>} */
const SHORT = { mean: "", max: ", largest of heads", min: ", smallest of heads" };

/**
 * How the heads are fused for the first method, or for the one beside it: as for the first, until
 * chosen for itself.
 *
 * @param {Pick<Selection, "fusion" | "discard" | "beside_fusion" | "beside_discard">} selection
 * @param {boolean} beside
 * @returns {Fused}
 */
export const fusedIn = ({ fusion, discard, beside_fusion: other, beside_discard: share }, beside) =>
  beside ? { fusion: other || fusion, discard: share ?? discard } : { fusion, discard };

/**
 * The method's name, with how the heads are fused where that is not by their mean.
 *
 * @param {MethodInfo} info
 * @param {Fused} fused
 */
export function nameOf({ label, fused = [] }, { fusion, discard }) {
  const left = fused.includes("discard") && discard ? `, ${inPercent(discard)} left out` : "";
  return `${label}${fused.includes("fusion") ? SHORT[fusion] : ""}${left}`;
}

/**
 * What a method shows, with how the heads were fused.
 *
 * @param {MethodInfo} info
 * @param {Fused} selection
 */
export function showsOf({ shows, fused = [] }, { fusion, discard }) {
  const parts = [shows];
  if (fused.includes("fusion")) parts.push(`A layer’s heads are fused by ${FUSED[fusion]}.`);
  if (fused.includes("discard") && discard)
    parts.push(`The smallest ${inPercent(discard)} of each layer’s weights above 0 are left out.`);
  return parts.join(" ");
}

/**
 * The sum of a relevance over all tokens, hidden ones included, and what no token gets.
 *
 * @param {{total: number, hidden: number, unassigned: number | null}} relevance
 */
export function together({ total, hidden, unassigned }) {
  const parts = [`All tokens together ${number(total)}`];
  if (hidden) parts.push(`${number(hidden)} of it on hidden tokens`);
  if (unassigned !== null) parts.push(`${number(unassigned)} unassigned`);
  return `${parts.join(", ")}.`;
}

/** @param {number} value */
export const number = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 0.001 ? value.toFixed(3) : value.toExponential(1);

/**
 * How the heads are fused, as parameters of a request; empty for the defaults.
 *
 * @param {MethodInfo} info
 * @param {Fused} selection
 * @returns {Record<string, string | number>}
 */
export const fusedQueryOf = ({ fused = [] }, { fusion, discard }) => ({
  ...(fused.includes("fusion") && fusion !== "mean" ? { fusion } : {}),
  ...(fused.includes("discard") && discard ? { discard } : {}),
});

/** @param {number} share */
export const inPercent = (share) => `${Number((100 * share).toFixed(1))} %`;

/**
 * The largest distance from 0, at least a little.
 *
 * @param {ArrayLike<number>} values
 */
export const largest = (values) => Math.max(1e-12, ...Array.from(values, Math.abs));

/**
 * The colour of a number from −top to top: the diverging scale where any is negative, else the
 * sequential one; proportional to the square root.
 *
 * @param {{ramp: Uint8Array, bothWays: Uint8Array}} theme
 * @param {number} value
 * @param {number} top
 * @param {boolean} signed
 * @returns {[number, number, number]}
 */
export function colourOf({ ramp, bothWays }, value, top, signed) {
  const share = Math.sign(value) * Math.sqrt(Math.min(1, Math.abs(value) / top));
  const place = signed ? 127.5 * (1 + share) : 255 * Math.max(0, share);
  const i = 3 * Math.min(255, Math.max(0, Math.round(place)));
  const table = signed ? bothWays : ramp;
  return [table[i], table[i + 1], table[i + 2]];
}

/**
 * Requests of one token's row, which takes long: its keys in parts, so that the view can tell how
 * far it has come.
 *
 * @param {number} keys
 * @param {number} size
 * @returns {string[]}
 */
export const spansOf = (keys, size) =>
  Array.from({ length: Math.ceil(keys / size) }, (_, i) => `${i * size}-${Math.min(keys, (i + 1) * size)}`);
