// The explorer as a Streamlit component.

import { adapt } from "./adapter.js";
import { mount } from "./explorer.js";

export default adapt(mount);
