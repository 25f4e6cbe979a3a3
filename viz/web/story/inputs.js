// The inputs of a figure as text: in the link, and as the query of a request.

/** @import {Inputs} from "../types" */

/**
 * What differs from the start, as one text: “temperature:0.5~q:1;2”.
 *
 * @param {Inputs} inputs
 * @param {Inputs} start
 */
export function written(inputs, start) {
  return Object.keys(start)
    .filter((name) => String(inputs[name]) !== String(start[name]))
    .map((name) => `${name}:${textOf(inputs[name])}`)
    .join("~");
}

/**
 * The inputs that a text describes; what is unknown or of another kind is left as it is at the start.
 *
 * @param {string} text
 * @param {Inputs} start
 * @returns {Inputs}
 */
export function read(text, start) {
  /** @type {Inputs} */
  const values = { ...start };
  for (const part of text.split("~")) {
    const [name, ...rest] = part.split(":");
    const value = rest.join(":");
    const before = Object.hasOwn(start, name) ? start[name] : undefined;
    if (before === undefined) continue;
    if (typeof before === "string") values[name] = value;
    else {
      const numbers = value.split(";").map(Number);
      if (!value || numbers.some((number) => !Number.isFinite(number))) continue;
      if (typeof before === "number" && numbers.length === 1) values[name] = numbers[0];
      if (Array.isArray(before) && numbers.length === before.length) values[name] = numbers;
    }
  }
  return values;
}

/**
 * The query of a request for these inputs.
 *
 * @param {Inputs} inputs
 */
export function queryOf(inputs) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(inputs)) query.set(name, textOf(value));
  return query.toString();
}

const textOf = (value) =>
  Array.isArray(value) ? value.map(short).join(";") : typeof value === "number" ? short(value) : value;

const DIGITS = 6; // after the point

const short = (value) => String(Number(value.toFixed(DIGITS)));
