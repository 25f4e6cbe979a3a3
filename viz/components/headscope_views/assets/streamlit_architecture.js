// The architecture diagram as a Streamlit component.

import { adapt } from "./adapter.js";
import { mount } from "./architecture.js";

export default adapt(mount);
