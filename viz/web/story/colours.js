// The colours of the mode in force, for the style sheet.

/** @import {StoryTheme} from "../types" */

/** @param {HTMLElement} root @param {StoryTheme} colours */
export function colour({ style }, colours) {
  for (const [name, value] of Object.entries(colours.terms)) style.setProperty(`--term-${name}`, value);
  for (const name of ["background", "surface", "text", "muted", "line", "primary"])
    style.setProperty(`--hs-${name}`, colours[name]);
}
