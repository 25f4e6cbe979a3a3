// Parts of a toolbar.

import { element } from "./view.js";

/** A button with its title, which is also its name. */
export function button(text, title, action) {
  const made = element("button", "hs-button", { type: "button", title, "aria-label": title }, text);
  made.onclick = action;
  return made;
}

/** ‹ [select] › for one of the two things a head is named by. */
export function stepper(name, step, choose) {
  const select = element("select", "hs-select", { "aria-label": name });
  select.onchange = () => choose(select.selectedIndex);
  const back = button("‹", `Previous ${name.toLowerCase()}`, () => step(-1));
  const on = button("›", `Next ${name.toLowerCase()}`, () => step(1));
  const box = element(
    "div",
    "hs-stepper",
    {},
    element("span", "hs-label", { "aria-hidden": "true" }, name),
    back,
    select,
    on,
  );
  let options = "";
  const show = (names, index) => {
    if (options !== names.join("\n")) {
      options = names.join("\n");
      select.replaceChildren(...names.map((text) => element("option", "", {}, text)));
    }
    select.selectedIndex = index;
    back.disabled = index === 0;
    on.disabled = index === names.length - 1;
  };
  return { box, show };
}
