"""Page state: settings, link, and initial selection of the view.

`page_state` has pure transitions, `params` the link, `session` the binding to Streamlit.
"""
