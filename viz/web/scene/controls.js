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

/** Values, or titles by value. @type {(input: string, label: string, options: string[] | Record<string, string>, above?: boolean) => FigureControl} */
export const choice = (input, label, options, above = false) => ({
  kind: "choice",
  input,
  label,
  options: Array.isArray(options) ? options.map((each) => [each, each]) : Object.entries(options),
  above,
});

/** @type {(input: string, label: string, longest: number) => FigureControl} */
export const field = (input, label, longest) => ({ kind: "text", input, label, longest });
