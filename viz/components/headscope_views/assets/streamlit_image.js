// The image view as a Streamlit component.

import { adapt } from "./adapter.js";
import { mount } from "./image.js";

export default adapt(mount);
