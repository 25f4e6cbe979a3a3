"""Page state: settings, link, and initial selection of the view.

`page_state` has pure transitions, `params` the parameters of a link; `link_on_entry` reads them
when a page is entered; `session` is the binding to Streamlit.
"""
