"""The app: Streamlit with its own API and a strict Content-Security-Policy.

`make app`, `streamlit run app.py` and `uvicorn app:app` all run this. Nothing here imports torch:
pages ask for it after their first output.
"""

import os
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is imported

import streamlit as st

from viz.api import routes, server

app = st.App(
    Path(__file__).parent / "viz" / "pages" / "frame" / "main.py",
    routes=[*routes(lambda: st.get_option("server.allowedHosts")), *server.page_routes()],
    middleware=server.middleware(),
    lifespan=server.lifespan,
)

if __name__ == "__main__":
    app.run()
