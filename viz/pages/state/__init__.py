"""The state of a page: what its controls hold, which link it was entered by, what its view starts
with. Pure transitions in page_state, the link in params, Streamlit in session."""
