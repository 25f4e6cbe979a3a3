// The shapes of everything that crosses a boundary: props, messages, the selection, the host.

/** Answers to requests: those of viz/views and viz/api, whose dataclasses they are written from. */
export * from "./answers";
import type { Answers, NumbersAnswer as Numbers, Options } from "./answers";
/** By key of the measure, site and head; null where it is not defined. */
export type NumbersAnswer = Omit<Numbers, "values"> & { values: Record<string, (number | null)[][]> };

/** The path of a request, which knows its route. */
export type Path<R extends string> = string & { route?: R };
export type AnswerTo<R extends string> = R extends keyof Answers ? Answers[R] : any;

// ---- the host of a component

/** What a component may tell whoever shows it. */
export interface Host {
  /** A value that stays (Streamlit: setStateValue). */
  set(name: string, value: unknown): void;
  /** An event that happens once (Streamlit: setTriggerValue). */
  trigger(name: string, value: unknown): void;
  /** Where responses about a trace come from; without it they are fetched from the server. */
  source?: (trace: string, session: string) => Source;
}

/** A mounted component. */
export interface Mounted<P> {
  /** New props, or the same ones when only the theme may have changed. */
  update(props: P): void;
  destroy(): void;
}

export type Mount<P> = (root: HTMLElement, props: P, host: Host) => Mounted<P>;

// ---- fetching

export type Priority = "high" | "low";

export interface Source {
  /** Whether it may have what it was not given (a server), or holds all it has (a file). */
  readonly remote: boolean;
  /** Of one that holds all it has: whether it has a path. */
  has?(path: string): boolean;
  get(path: string, options: { signal: AbortSignal; priority: Priority }): Promise<Uint8Array>;
}

/** How one request of a view stands. */
export type RequestState = "none" | "pending" | "done" | "absent" | "failed" | "gone";

// ---- what is chosen in a view

export type Axis = "query" | "key";
export type Head = number | "mean" | "max";
export type Mode = "light" | "dark";

export type Scale = Options["scale"];
/** "difference": what edits changed, which the page chooses. */
export type Values = Options["values"] | "difference";
export type Sinks = Options["sinks"];
export type Form = Options["form"];
export type Block = Options["block"];

/** What is chosen, in terms of the trace that is shown. */
export interface Selection extends Options {
  /** Index of the site: one attention layer of one kind, tower, module and part. */
  site: number;
  head: Head;
}

/** What is chosen, in terms of a link: they outlive the trace. */
export type LinkSelection = Omit<Selection, "site"> & Address;

/** A site in terms of a link: its kind is called attention. */
export type Address = {
  layer: number;
  attention: string | null;
  tower: string | null;
  /** Path of the attention module, and number of the run, where a layer has several. */
  module: string | null;
  part: number | null;
};

/** The smallest and the largest value. */
export type Range = readonly [number, number];

/** A cell of a matrix. */
export interface Cell {
  query: number;
  key: number;
}

// ---- props

/** The part of the props that the link needs. */
export interface LinkProps {
  /** Empty: the link holds nothing of this view. */
  page: string;
  /** The addresses this page has: location.pathname. */
  path: string[];
  /** Of a view: a page may show texts and pictures, whose scales mean other things. */
  kind?: string;
  /** "<nonce>.<number>": changes when Python chooses the settings and the selection. */
  revision: string;
  /** The settings' part of the link: what differs from the defaults. A story's frame sends it. */
  link?: Record<string, string>;
  /** That the settings are of; in files and notebooks there is none. */
  session?: string;
}

/** Props of a page without a view, and of every view with a selection. */
export interface PageLinkProps extends LinkProps {
  /** Adopted once a revision; null: what was chosen here before. */
  start: Partial<LinkSelection> | null;
  /** What is left out of the link. */
  defaults: Partial<LinkSelection>;
}

/** A step of a tour; `do` is done in order when its button is pressed. */
export interface TourStep {
  text: string;
  /** Of the first: the text that the tour begins with. */
  input?: string;
  button?: string;
  do?: TourAction[];
  /** Answers to its question, one of which comes before the button. */
  choices?: { text: string; right: boolean; reply: string }[];
}

export type TourAction =
  | { select: Partial<Pick<LinkSelection, "layer" | "head" | "token" | "form">> }
  | { input: string }
  | { off: true }
  | { undo: true };

/** Props of an attention view (kinds "text" and "image"). */
export interface ViewProps extends PageLinkProps {
  kind: string;
  /** Id of the trace; null while there is none. */
  trace: string | null;
  /** Where responses are while it is computed, by path. */
  stored?: Record<string, string>;
  type_size?: number;
  /** Whether the picture is of earlier settings: it is drawn dimmed. */
  busy?: boolean;
  /** Whether the model’s predictions can be asked for. */
  predicts?: boolean;
  /** The steps for the example that is shown: see viz/pages/explore/tours.py. */
  tour?: TourStep[];
  /** What is said while there is no trace. */
  message?: string;
  /** The edits in order, as values and in a sentence; without them the view offers none. */
  edits?: { values: import("./core/edits.js").Edit; said: string; on: boolean }[];
  /** Whether the last change of them can be taken back, or made again. */
  undo?: boolean;
  redo?: boolean;
  /** Whether the second model or input has them, too. */
  both?: boolean;
  /** What can stand beside the input, by its name in a link, and which of it does. */
  beside?: { titles: [string, string][]; chosen: string };
  /** Whether the pass in view has them. */
  edited?: boolean;
  /** Whether weights are shown as what the edits changed. */
  difference?: boolean;
  /** Whether the model can go on with the text. */
  writes?: boolean;
  /** How many tokens there were before it went on; null where it did not. */
  given?: number | null;
  /** Names the picture or network, where there are two. */
  title?: string;
  /** Whether a second text may be shown beside this one. */
  compares?: boolean;
  /** The trace of a second text, from which heads and weights are patched. */
  other?: { trace: string; title: string } | null;
  /** A trace that is shown beside this one. */
  second?: SecondProps | null;
}

export interface SecondProps {
  trace: string;
  title: string;
  predicts?: boolean;
  /** Of a second picture, its name as the source of patches. */
  source?: string;
  /** Whether its tokens stand in the same text. */
  aligned?: boolean;
  /** Whether it is shown as what edits changed in it. */
  difference?: boolean;
}

// ---- messages

/** What viz/pack.py packs: its parts, in which offsets into the area of bytes stand for arrays. */
export interface Message {
  header: any;
  area: Uint8Array;
}

export interface Colours {
  background: string;
  surface: string;
  text: string;
  muted: string;
  line: string;
  primary: string;
  heads: string[];
}

export interface ThemeColours extends Colours {
  /** Offset of the 256 colours of the weight scale, three bytes each. */
  sequential: number;
  /** Offset of the 256 colours on both sides of zero. */
  diverging: number;
}

/** The colours in force. */
export interface Theme extends ThemeColours {
  mode: Mode;
  ramp: Uint8Array;
  /** Colours on both sides of zero. */
  bothWays: Uint8Array;
}

export interface Text {
  labels: string[];
  /** Indexes of the tokenizer's own tokens. */
  special: number[];
  /** Indexes of tokens that begin where the one before ends. */
  joined?: number[];
  /** The original tokens of each word, where words are shown. */
  origins?: number[][];
  /** Where the second text of a pair begins. */
  second?: number;
  /** Whether the tokens are frames of a recording. */
  timed?: boolean;
  /** Where tokens lie on pictures. */
  grids?: TokenGrid[];
}

/** A grid of tokens over a picture, or over a part of one. */
export interface TokenGrid {
  picture: number;
  /** Of the part; "" for the picture as a whole. */
  name: string;
  shape: [number, number];
  /** Left, top, right and bottom, in shares of the picture. */
  box: [number, number, number, number];
  /** The token of each cell, row by row; −1 for one that is hidden. */
  places: number[];
  /** Of a video, those that the tokens are of. */
  frames: number[];
}

/** A recording's length in seconds, without padding and with it. */
export interface Heard {
  heard: number;
  seconds: number;
}

export interface Site {
  layer: number;
  kind: string;
  tower?: string | null;
  /** Path of the attention module in the network. */
  module?: string | null;
  /** Number of the call, where one layer is called several times. */
  part?: number;
  heads: number;
  kv_heads?: number;
  queries: number;
  keys: number;
  query_text?: number;
  key_text?: number;
  path?: string;
}

export interface Base {
  model: string;
  /** What is said with every picture, and how the weights of a head were grouped. */
  note: string;
  /** The first of these alone. */
  caveat: string;
  /** What a relevance can explain. */
  explains?: "tokens" | "classes" | "similarity" | "nothing";
  /** Whether something else computed the weights: there are no queries and keys, and no edits. */
  given?: boolean;
  texts: Text[];
  sites: Site[];
  /** Of a trace of a recording. */
  sound?: Heard;
  /** How many pictures tokens lie on. */
  pictures?: number;
  /** Whether all tokens are patches of one, or belong to it as a whole. */
  patches?: boolean;
  /** Row and column of the patch that the network answers. */
  mark?: [number, number] | null;
  /** What tells them from others. */
  pictured?: string;
  /** Whether the input is a question about them. */
  asked?: boolean;
  /** Whether the pictures are the frames of a video. */
  video?: boolean;
  /** Whether the model compares them with texts. */
  captions?: boolean;
  theme: Record<Mode, ThemeColours>;
}

// ---- inside a head

/** What the header of "inside" says. */
export interface InsideHeader {
  query: number;
  key: number;
  /** Places of the pair among the tokens that are there. */
  at: [number, number | null];
  /** How many keys there are in all. */
  of: number;
  /** Why a matrix cannot be told, by name. */
  missing: Record<string, string>;
  titles: Record<string, string>;
  tokens: Record<Axis, { index: number; label: string }[]>;
  /** Matrices of the head; then what is compared of the pair, whose last one sums to the first step. */
  numbers: Record<string, { shape: [number, number]; at: number }>;
  /** From that sum to the weight; null is −∞. */
  steps: { name: string; value: number | null; how: string }[];
  applied: string[];
}

// ---- views of all heads

/** What the views of all heads read and change: their numbers on one text, or over a corpus. */
export type ManyHeads = import("./core/state.js").State<any> & {
  /** The same number elsewhere, whose axis has the same scale. */
  twinOf?(key: string): string;
};

// ---- a run over a corpus

/** Everything about a run but its heads' own pages. */
export interface RunBase {
  model: string;
  sites: Site[];
  run: {
    corpora: string[];
    pictures: boolean;
    texts: number;
    tokens: number;
    complete: boolean;
    /** How many pairs of tokens each head lists; null in runs of earlier versions. */
    pairs: number | null;
    /** A second run that it is compared with. */
    against: { model: string; corpora: string[]; texts: number; comparable: boolean } | null;
  };
  numbers: NumbersAnswer;
  theme: Record<Mode, ThemeColours>;
}

// ---- weights that have come

/** A rectangle of one head's matrix, a byte a cell; pooled where shape is smaller than the range. */
export interface Part {
  rows: [number, number];
  cols: [number, number];
  shape: [number, number];
  stride: number;
  values: Values;
  min: number;
  max: number;
  data: Uint8Array;
  whole: boolean;
  sinks: HiddenSinks | null;
}

/** Keys that a matrix hides, and the weight they took. */
export interface HiddenSinks {
  keys: number[];
  /** Of the head: the mean over the rows. */
  share: number;
  /** Of each row. */
  shares: Float32Array;
}

/** The exact weights (or scores) of one query over the keys, or of one key over the queries. */
export interface ExactRow {
  weights: Float32Array;
  sum: number | null;
}

/**
 * One weight: exact (""), rounded ("≈"), or the largest of a pooled cell ("≤"). Where scores are
 * shown it is a score, -∞ if the key is masked.
 */
export interface Weight {
  value: number;
  sign: "" | "≈" | "≤";
  sum?: number | null;
}

/** What a matrix shows of a head, as its maps and rows are asked for. */
export interface Variant {
  values: Values;
  sinks: Sinks;
}

// ---- the course

export interface ListedLesson {
  name: string;
  number: number;
  title: string;
  line: string;
  minutes: number;
  /** Names of those of its main line. */
  steps: string[];
}

export interface Zoom {
  in(): void;
  out(): void;
  reset(): void;
  isZoomed(): boolean;
  isDeepest(): boolean;
}

/** What a form offers the page around it. */
export interface FormPanel {
  zoom?: Zoom;
  /** What the server is told of what is chosen in it. */
  figure?(): Record<string, any>;
}

// ---- the living figures of the course

/** The parts of attention that have a colour of their own, the same in text, formula and figure. */
export type Term = "query" | "key" | "value" | "weight" | "output";

/** What a figure's inputs are: numbers, words, and lists of numbers. */
export type Inputs = Record<string, number | string | number[]>;

/** The inputs a change sets. */
export type Patch = Inputs;

/** One thing in a picture; what has no meaning for its kind is left out. */
export interface Mark {
  /** What it stays while the picture changes. */
  key: string;
  kind: "rect" | "circle" | "text" | "line" | "arrow" | "curve" | "path" | "image";
  x?: number;
  y?: number;
  w?: number;
  h?: number;
  /** Radius, of a circle or of a rectangle's corners. */
  r?: number;
  /** The other end of a line, arrow or curve. */
  x2?: number;
  y2?: number;
  /** Whether a curve leaves its ends horizontally or vertically. */
  bend?: "h" | "v";
  /** Of a path. It does not move: it changes at once. */
  d?: string;
  href?: string;
  /** With “_{…}” and “^{…}” below and above the line. */
  text?: string;
  size?: number;
  anchor?: "start" | "middle" | "end";
  bold?: boolean;
  /** In degrees round x and y. */
  turn?: number;
  /** #rrggbb. */
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: string;
  opacity?: number;
  /** Whether dashes run along it from its start to its end. */
  flow?: boolean;
  /** It lights up with everything else of this term. */
  term?: Term;
  /** What is said beside it while the pointer or the focus is on it: how its number comes about. */
  tip?: string;
  /** Keys of the marks that its number comes from: they light up with it. */
  of?: string[];
  /** It can be dragged, and moved by arrow keys. */
  handle?: {
    label: string;
    /** Read out, with its unit. */
    value: string;
    /** The inputs when it is dragged to a point of the picture. */
    move(x: number, y: number): Patch;
    /** The inputs after an arrow key: dx and dy are −1, 0 or 1; y grows downwards. */
    nudge(dx: number, dy: number): Patch;
  };
  /** It can be pressed. */
  press?: { label: string; pressed?: boolean; patch: Patch };
  /** Its number can be typed. */
  edit?: { label: string; value: number; apply(value: number): Patch };
}

/** The colours of a figure, all as #rrggbb. */
export interface Ink {
  text: string;
  muted: string;
  line: string;
  surface: string;
  background: string;
  primary: string;
  term: Record<Term, string>;
  heads: string[];
  /** Of a weight from 0 to 1. */
  weight(share: number): string;
  /** Of a number from −1 to 1. */
  signed(share: number): string;
  /** A colour that is legible on this one. */
  on(ground: string): string;
}

/** What a figure is drawn for. */
export interface Moment {
  step: string;
  /** Whether the story has come as far as this step. */
  reached(step: string): boolean;
  /** Whether the step's picture is a board. */
  board: boolean;
  inputs: Inputs;
}

/** A control of a figure, by the input that it sets; as `viz/course/inputs.py` makes it. */
export type FigureControl = { input: string; label: string } & (
  | { kind: "slider"; min: number; max: number; step: number; log?: boolean; plays?: boolean }
  | { kind: "choice"; options: readonly (readonly [string, string])[] }
  | { kind: "text"; longest: number }
);

export interface FigureTable {
  title: string;
  rows: string[];
  cols: string[];
  values: (number | string | null)[][];
}

/** A matrix or table of a board, as `viz/course/boards.py` makes it. */
export interface BoardPanel {
  title: string;
  values: (number | string | null)[][];
  rows: string[];
  cols: string[];
  /** "bars": numbers of one column beside each other; "picture": of no numbers. */
  kind: "plain" | "weights" | "signed" | "bars" | "picture";
  /** After the point; less than 0 for colours alone. */
  digits: number;
  /** Before it: an operator. */
  sign: string;
  /** Weights that colour cells of texts. */
  shades?: number[][] | null;
  /** Of bars: from and up to which they stand out. */
  lit?: [number, number];
  /** Of a picture: the second at which its axis ends; 0 for no axis. */
  end?: number;
  /** A part of the axis: from, to, and its name. */
  span?: [number, number, string] | null;
  /** Parts of a picture, from the left to the right, as data: URLs. */
  hrefs?: string[];
}

/** Matrices and tables row by row, or a network from one of its cards down, in place of a figure's own picture. */
export interface Board {
  rows: BoardPanel[][];
  /** The id of its trace, the address of the card, and what is open in it, as `open` of Build's link. */
  network?: { trace: string; card: string; open: string };
}

/** The module of a lesson's figure. */
export interface Figure {
  picture(numbers: any, moment: Moment): import("./scene/layout.js").Part;
}

/** A part of a paragraph: text, or something with parts of its own. */
export type ProsePart =
  | string
  | { tag: "b" | "i" | "code" | "sub" | "sup"; parts: ProsePart[] }
  | { tag: "term"; term: Term; parts: ProsePart[] }
  | { tag: "glossary"; meaning: string; parts: ProsePart[] }
  | { tag: "number"; path: string; format: string };

export interface StoryStep {
  name: string;
  title: string;
  /** A sentence: what the figure's numbers are computed from. */
  computed: string;
  prose: ProsePart[][];
  tries: { label: string; inputs: Patch }[];
  controls: FigureControl[];
  /** What the picture shows, for a screen reader, where its tables do not say it. */
  said: ProsePart[];
  /** Whether it is off the main line. */
  deeper: boolean;
  /** Whether its picture is a board, which the server makes for it. */
  board: boolean;
  /** Whether it says itself what the numbers of its figure are computed from. */
  own: boolean;
  /** What the figure opens with, besides the story's own inputs. */
  inputs: Patch;
  formulas: ProsePart[][];
  /** Lines of code. */
  code: ProsePart[][];
  ask: { text: ProsePart[]; options: { text: string; right: boolean; feedback: ProsePart[] }[] } | null;
}

export interface StoryTheme extends Omit<Colours, "heads"> {
  heads: string[];
  terms: Record<Term, string>;
  /** Of weights from 0 to 1, evenly spaced. */
  weights: string[];
  /** Of numbers from −1 to 1. */
  signed: string[];
}

/** What says where a lesson is in the course. */
export interface RailProps {
  lessons: ListedLesson[];
  /** Names of the lessons of the short way. */
  short: string[];
  /** The lesson that is shown. */
  page: string;
}

export interface StoryProps extends LinkProps, RailProps {
  /** The numbers of the first step as it opens, where they are stored. */
  answer: any;
  /** Of the figure, whose module has the name of the page. */
  title: string;
  inputs: Inputs;
  steps: StoryStep[];
  theme: Record<Mode, StoryTheme>;
  start: Record<string, unknown> | null;
  defaults: Record<string, unknown>;
}
