"""Page state: settings, link, and initial selection of the view.

`params` has the parameters of a link; `link_on_entry` reads them when a page is entered; `session`
is the binding to Streamlit.
"""
