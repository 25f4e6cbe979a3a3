// The controls of a figure, by their input.

/** @import {FigureControl} from "../types" */

/** @type {(input: string, label: string, range: [number, number, number], more?: {log?: boolean, plays?: boolean}) => FigureControl} */
export const slider = (input, label, [min, max, step], more) => ({
  kind: "slider",
  input,
  label,
  min,
  max,
  step,
  ...more,
});

/** Values with their titles; the titles are the values where there are none. @type {(input: string, label: string, options: readonly (readonly [string, string] | string)[], more?: {above?: boolean}) => FigureControl} */
export const choice = (input, label, options, more) => ({
  kind: "choice",
  input,
  label,
  options: options.map((each) => (typeof each === "string" ? [each, each] : each)),
  ...more,
});

/** @type {(input: string, label: string, longest: number) => FigureControl} */
export const field = (input, label, longest) => ({ kind: "text", input, label, longest });
