// The figures of the course, by name. A figure's module is loaded when its lesson is opened.

/** @import {Figure} from "../types" */

/** @type {Record<string, () => Promise<{figure: Figure}>>} */
export const FIGURES = {
  block: () => import("./block.js"),
  both: () => import("./both.js"),
  decoder: () => import("./decoder.js"),
  vision: () => import("./vision.js"),
  dictionary: () => import("./dictionary.js"),
  by_hand: () => import("./by_hand.js"),
  heads: () => import("./heads.js"),
  sampling: () => import("./sampling.js"),
  heads_do: () => import("./heads_do.js"),
  scale: () => import("./scale.js"),
  position: () => import("./position.js"),
  query_key_value: () => import("./query_key_value.js"),
  sequences: () => import("./sequences.js"),
  tokens: () => import("./tokens.js"),
  head_layer: () => import("./head_layer.js"),
};
