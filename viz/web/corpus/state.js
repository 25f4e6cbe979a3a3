// State of the view of a run over a corpus: the shared view state, and what is looked for.

import { groupOf, headName, siteName } from "../core/labels.js";
import { ViewState } from "../core/state.js";
import { Maps } from "../text/maps.js";
import { conditionsOf, conditionsText, HeadNumbers, passing, spotsOf } from "../core/head_numbers.js";

/** @import {Host, ManyHeads, Message, RunBase, Selection, ViewProps} from "../types" */

/** @implements {ManyHeads} */
export class CorpusState {
  /**
   * @param {HTMLElement} root
   * @param {ViewProps} props
   * @param {Host} host
   */
  constructor(root, props, host) {
    /** @type {ViewState<RunBase>} */
    this.view = new ViewState(root, props, host, {
      scales: ["fixed"],
      forms: [],
      slot: "head",
      take: () => false,
      opened: (message, base) => this.opened(message, base),
      wish: () => {},
    });
    this.maps = new Maps({ sites: [] });
    /** @type {HeadNumbers | null} */
    this.numbers = null;
    /** @type {{text: string, of: ReadonlyMap<string, string>}} */
    this.filters = { text: "", of: new Map() };
    /** @type {Uint8Array} */
    this.colours = new Uint8Array();
  }

  get base() {
    return this.view.base;
  }

  get selection() {
    return this.view.selection;
  }

  area = () => this.colours;

  changed() {
    this.view.changed();
  }

  // ---- what panels read

  site(index = this.selection.site) {
    return this.base.sites[index];
  }

  siteName(index = this.selection.site) {
    return siteName(this.base, index);
  }

  headName(head = this.selection.head, site = this.selection.site) {
    return headName(this.base, site, head);
  }

  /** The chosen head: a link may name a mean, which a corpus has not. */
  get head() {
    const { head } = this.selection;
    return typeof head === "number" ? head : 0;
  }

  /** The sites of the chosen kind of attention. */
  group() {
    return groupOf(this.base, this.selection.site);
  }

  spots() {
    return spotsOf(this.base.sites, this.group());
  }

  passing() {
    return this.numbers ? passing(this.numbers, this.conditions, this.spots()) : this.spots();
  }

  /** @param {string} key */
  twinOf = (key) => `${key} in B`;

  askNumbers() {
    return this.numbers;
  }

  /** Conditions that heads are filtered by, by measure; the same map until they change. */
  get conditions() {
    const { conditions } = this.selection;
    if (conditions !== this.filters.text) this.filters = { text: conditions, of: conditionsOf(conditions) };
    return this.filters.of;
  }

  /** @type {(slot: string, doing: string) => string} */
  waitingFor = (slot, doing) => this.view.waitingFor(slot, doing);

  // ---- what the user does

  /** @type {(change: Partial<Selection>) => void} */
  select = (change) => this.view.select(change);

  /**
   * Filters heads by more numbers, or by no condition on them.
   *
   * @param {Record<string, string>} conditions
   */
  filter(conditions) {
    const next = new Map([...this.conditions, ...Object.entries(conditions)]);
    this.select({ conditions: conditionsText(next) });
  }

  // ---- data

  /**
   * @param {Message} message
   * @param {RunBase} base
   */
  opened(message, base) {
    this.maps = new Maps(base);
    this.maps.take(message);
    this.numbers = new HeadNumbers(base.numbers, base.sites);
    this.colours = message.area;
  }
}
