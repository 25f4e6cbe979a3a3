// Tells a page when light becomes dark: figures that Streamlit drew keep the colours they began
// with, so the page has to make them anew. Called again on every change of data or theme.

import { modeOf } from "./colours.js";

export default function ({ parentElement, data, setStateValue }) {
  const mode = modeOf(parentElement.querySelector(".headscope"));
  if (mode !== new TextDecoder().decode(data)) setTimeout(() => setStateValue("view", { mode }));
}
