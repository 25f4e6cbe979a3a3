// The adapter to Streamlit: called again whenever data or theme change, cleaned up at unmount.

const instances = new WeakMap();

/** A component's default export from a view's `mount`. */
export const adapt = (mount) =>
  function ({ parentElement, data, setStateValue }) {
    const root = parentElement.querySelector(".headscope");
    const known = instances.get(root);
    if (known) {
      known.send = setStateValue;
      known.view.update(data === known.data ? null : data);
      known.data = data;
      return known.cleanup;
    }
    const made = { data, send: setStateValue };
    made.view = mount(root, data, (event) => made.send("view", event));
    made.cleanup = () => {
      made.view.destroy();
      instances.delete(root);
    };
    instances.set(root, made);
    return made.cleanup;
  };
