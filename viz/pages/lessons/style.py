"""The style sheet of the lessons: one column, tables, terms, and paper."""

import streamlit as st

LINE = "rgba(128, 134, 148, .35)"
SOFT = "rgba(128, 134, 148, .12)"
STYLE = """<style>
[class*="st-key-lesson_page"] { max-width: 1080px; margin: 0 auto; }
.lesson-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem .9rem; }
.lesson-head small { opacity: .75; }
.lesson-bar { display: flex; gap: 3px; margin: .1rem 0 .2rem; }
.lesson-bar i { flex: 1; height: 5px; border-radius: 3px; background: SOFT; }
.lesson-bar i.opened { background: rgba(112, 118, 232, .45); }
.lesson-bar i.here { background: rgb(112, 118, 232); }
.lesson-text p { margin: 0 0 .55rem; line-height: 1.55; max-width: 46rem; }
.lesson-text ul { margin: 0 0 .5rem; padding-inline-start: 1.2rem; max-width: 46rem; }
.lesson-text li { margin: .15rem 0; line-height: 1.5; }
.lesson-text h5 { font-size: 1.05rem; padding: 0; margin: .5rem 0 .3rem; }
.lesson-takeaways { border-inline-start: 4px solid rgb(112, 118, 232);
  padding-inline-start: .9rem; }
.lesson-term { position: relative; cursor: help;
  text-decoration: underline dotted currentColor; text-underline-offset: 3px; }
.lesson-term:is(:hover, :focus)::after { content: attr(data-meaning); position: absolute;
  z-index: 99; inset-inline-start: 0; top: 1.5em; width: max-content; max-width: min(20rem, 70vw);
  padding: .4rem .6rem; border-radius: 6px; font-size: .88rem; font-weight: 400; line-height: 1.4;
  font-style: normal; white-space: normal; background: #2b3040; color: #f3f5f9;
  box-shadow: 0 2px 8px rgba(0, 0, 0, .35); pointer-events: none; text-align: start; }
.lesson-matrix:has(.lesson-term:is(:hover, :focus)) { overflow: visible; }
.lesson-row { display: flex; flex-wrap: wrap; align-items: flex-end; gap: .5rem 1.2rem; }
.lesson-matrix { margin: .2rem 0; max-width: 100%; overflow-x: auto; }
.lesson-matrix figcaption { font-weight: 600; font-size: .92rem; margin-bottom: .2rem; }
.lesson-matrix figcaption small { display: block; font-weight: 400; opacity: .75; }
.lesson-matrix table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.lesson-matrix :is(td, th) { padding: .22rem .55rem; font-size: .92rem; white-space: nowrap; }
.lesson-matrix th { font-weight: 400; opacity: .8; text-align: end; }
.lesson-matrix td { border: 1px solid LINE; text-align: end; }
.lesson-matrix tr:first-child > td:first-child:empty { border: 0; }
.lesson-matrix td.marked { outline: 2px solid #e08a1e; outline-offset: -2px; font-weight: 600; }
.lesson-matrix td.masked { opacity: .65; background: repeating-linear-gradient(135deg, SOFT 0 4px,
  transparent 4px 8px); }
.lesson-bars { flex: 1 1 18rem; }
.lesson-bars table { width: 100%; }
.lesson-bars td { border: 0; }
.lesson-bars th { width: 1%; }
.lesson-bars td:last-child { width: 1%; }
.lesson-bar-cell i { display: block; height: 1.05rem; min-width: 1px; border-radius: 2px; }
.lesson-way th { padding-inline: .3rem; text-align: center; }
.lesson-way th b { display: block; min-width: 7rem; padding: .15rem .6rem; border-radius: 6px;
  border: 1px solid LINE; font-weight: 500; }
.lesson-way b.layer { background: rgba(92, 118, 235, .22); }
.lesson-way b.norm { background: rgba(224, 138, 30, .2); }
.lesson-way b:is(.sum, .x) { border-color: transparent; }
.lesson-way tr td.none, .lesson-way tr:first-child td.none { border: 0; padding: 0; }
.lesson-way tr td.round, .lesson-way tr:first-child > td.round:first-child:empty {
  width: .9rem; padding: 0; border: 2px solid rgb(112, 118, 232); border-inline-end: 0; }
.lesson-pending { border: 1px dashed LINE; border-radius: 6px; padding: .5rem .8rem; opacity: .6; }
.lesson-note { font-size: .88rem; opacity: .85; margin: .25rem 0 0; max-width: 30rem; }
.lesson-facts { display: flex; flex-wrap: wrap; gap: .35rem .5rem; margin: .2rem 0; }
.lesson-facts > span { background: SOFT; border-radius: 6px; padding: .1rem .55rem;
  font-size: .9rem; font-variant-numeric: tabular-nums; }
.lesson-facts i { opacity: .75; }
.lesson-lines { list-style: none; padding: 0 !important; margin: .2rem 0 !important;
  font-variant-numeric: tabular-nums; }
.lesson-lines li { padding: .1rem 0; margin: 0 !important; font-size: .95rem;
  overflow-wrap: anywhere; }
.lesson-columns { columns: 21rem; }
.lesson-glossary dt { font-weight: 600; margin-top: .4rem; }
.lesson-glossary dd { margin: 0; }
.lesson-keys { font-size: .85rem; opacity: .75; margin: .4rem 0 0; }
.lesson-keys kbd { border: 1px solid LINE; border-radius: 4px; padding: 0 .3rem; }
[class*="st-key-lesson_grid"] [data-testid="stNumberInputClearButton"] { display: none; }
[class*="st-key-lesson_page"] .stPageLink a { height: auto; }
[class*="st-key-lesson_page"] .stPageLink a p { white-space: normal; text-align: start; }
[class*="st-key-lesson_tries"] button { justify-content: start; text-align: start;
  padding-inline: .25rem; }
[class*="st-key-lesson_tries"] button p { font-weight: 400; white-space: normal; }
[class*="st-key-lesson_step"] button { padding-inline: .6rem; }
@media (max-width: 640px) {
  [class*="st-key-lesson_nav"], [class*="st-key-lesson_foot"] { row-gap: 0 !important; }
  [class*="st-key-lesson_grid"] { gap: .3rem !important; }
  [class*="st-key-lesson_grid"] > div { flex: 1 1 4.4rem; min-width: 0; max-width: 7rem; }
  [class*="st-key-lesson_grid"] input { padding-inline: .4rem; }
  .lesson-row { column-gap: .6rem; }
  .lesson-table :is(td, th) { white-space: normal; overflow-wrap: anywhere; }
  .lesson-matrix:not(.lesson-bars) :is(td, th) { padding: .2rem .3rem; font-size: .82rem; }
  .lesson-text, .lesson-matrix, .lesson-facts, .lesson-lines { position: relative; }
  .lesson-term { position: static; }
  .lesson-term:is(:hover, :focus)::after { top: auto; margin-top: 1.5em; max-width: 100%; }
}
@media print {
  header, [data-testid="stHeader"], [data-testid="stToolbar"], [data-testid="stSidebar"],
  [class*="st-key-lesson_nav"], [class*="st-key-lesson_foot"], [class*="st-key-lesson_tries"],
  .lesson-keys, .lesson-bar { display: none !important; }
  .stApp, .stMain, [data-testid="stAppViewContainer"], [data-testid="stMainBlockContainer"] {
    position: static !important; overflow: visible !important; height: auto !important;
    padding-top: 0 !important; }
  .lesson-matrix, .stPlotlyChart, .lesson-takeaways { break-inside: avoid; }
}
PRINTED
</style>""".replace("LINE", LINE).replace("SOFT", SOFT)
PRINTED = """[class*="st-key-lesson_page"] :is(.stPageLink, [class*="st-key-lesson_grid"]),
  [class*="st-key-quiz-"][class*="-answer"],
  [class*="st-key-lesson_step"], [class*="st-key-lesson_tries"] { display: none; }
[class*="st-key-lesson_page"] [data-testid="stTooltipIcon"] { display: none; }
[class*="st-key-lesson_page"] :is(.stSlider, .stTextInput, .stTextArea, .stSelectbox,
  [data-testid="stButtonGroup"]) { pointer-events: none; }
.stCode :is(pre, code, code *) { white-space: pre-wrap !important; overflow-wrap: anywhere; }"""


def apply(*, printing: bool) -> None:
    """Puts the style sheet on the page; in the print view controls cannot be moved."""
    st.html(STYLE.replace("PRINTED", PRINTED if printing else ""))
