// The numbers behind a figure, folded away.

import { element } from "../core/dom.js";
import { fixed } from "../scene/numbers.js";

/** @import {FigureTable} from "../types" */

const DIGITS = 4;

export function tablesOf() {
  const inner = element("div", "story-numbers-inner");
  const box = element("details", "story-numbers", {}, element("summary", "", {}, "Show numbers"), inner);
  /** @type {FigureTable[]} */
  let latest = [];
  const write = () => box.open && inner.replaceChildren(...latest.map(table));
  box.addEventListener("toggle", write);

  function show(tables) {
    latest = tables;
    box.hidden = !tables.length;
    write();
  }

  return { box, show };
}

function table({ title, rows, cols, values }) {
  const head = element("tr", "", {}, element("td"), ...cols.map((name) => element("th", "", { scope: "col" }, name)));
  const lines = values.map((row, i) =>
    element("tr", "", {}, element("th", "", { scope: "row" }, rows[i] ?? ""), ...row.map((value) => element("td", "", {}, cell(value)))),
  );
  return element("table", "story-table", {}, element("caption", "", {}, title), ...(cols.length ? [head] : []), ...lines);
}

function cell(value) {
  if (value === null) return "masked";
  return typeof value === "string" ? value : fixed(value, Number.isInteger(value) ? 0 : DIGITS);
}
