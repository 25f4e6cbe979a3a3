// The inputs of a figure as text: in the link, and as the query of a request.

/** @import {Inputs} from "../types" */

const DIGITS = 6; // after the point

const short = (value) => (typeof value === "number" ? String(Number(value.toFixed(DIGITS))) : value);
const textOf = (value) => [value].flat().map(short).join(";");

/** What differs from the start, as one text: “temperature:0.5~q:1;2”. @type {(inputs: Inputs, start: Inputs) => string} */
export const written = (inputs, start) =>
  Object.keys(start)
    .filter((name) => textOf(inputs[name]) !== textOf(start[name]))
    .map((name) => `${name}:${textOf(inputs[name])}`)
    .join("~");

/** The inputs that a text describes; what is unknown or of another kind is left as it is at the start. @type {(text: string, start: Inputs) => Inputs} */
export function read(text, start) {
  const values = { ...start };
  for (const [, name, value] of text.matchAll(/([^:~]+):([^~]*)/g)) {
    const [before, numbers] = [Object.hasOwn(start, name) && start[name], value.split(";").map(Number)];
    const isLike = value && numbers.every(Number.isFinite) && numbers.length === [before].flat().length;
    if (typeof before === "string") values[name] = value;
    else if (before !== false && isLike) values[name] = Array.isArray(before) ? numbers : numbers[0];
  }
  return values;
}

/** The query of a request for these inputs. @type {(inputs: Inputs) => string} */
export const queryOf = (inputs) =>
  String(new URLSearchParams(Object.entries(inputs).map(([name, value]) => [name, textOf(value)])));
