// State of the view of a run over a corpus: its numbers and thumbnails.

import { HeadNumbers } from "../core/head_numbers.js";
import { State } from "../core/state.js";
import { Maps } from "../text/maps.js";

/** @import {RunBase} from "../types" */

/** @extends {State<RunBase>} */
export class CorpusState extends State {
  slot = "head";
  maps = new Maps({ sites: [] });

  /** The chosen head: a link may name a mean, which a corpus has not. */
  get head() {
    const { head } = this.selection;
    return typeof head === "number" ? head : 0;
  }

  /** @param {string} key */
  twinOf = (key) => `${key} in B`;

  opened(message, base) {
    this.maps = new Maps(base);
    this.maps.take(message);
    this.numbers = new HeadNumbers(base.numbers, base.sites);
  }
}
