// The wire format between the pixel and `POST /collect`: JSON as `text/plain`, so that browsers send it without a preflight.
// Names are short, because every page pays for them. This file imports nothing: the pixel is built from it.

export const BEACON_VERSION = 1;
export const MAX_BEACON_BYTES = 65_536;
/** Batches of a session, and how long it may take; later ones are refused. */
export const MAX_SESSION_BATCHES = 2_000;
export const MAX_SESSION_MS = 8 * 3_600_000;
/** A batch has at most this many pages and marks. */
export const MAX_BEACON_ITEMS = 64;
/** A batch names at most this many documents that are written, each by a text of at most so many characters. */
export const MAX_WRITTEN_DOCUMENTS = 16;
export const MAX_WRITTEN_DOCUMENT_LENGTH = 256;
/** An event has at most this many fields, so a batch has a bounded number of values. */
export const MAX_EVENT_VALUES = 20_000;

/** What a person or a program did in one document since the last batch. All numbers are integers, except in `c`. */
export interface BeaconContent {
  /** Id of the document, new with each page load: 16 hexadecimal digits. */
  d: string;
  /** Sequence number of the batch in its document, from 0. */
  n: number;
  /** When it was sent: milliseconds of the document's monotonic clock, and of the wall clock. */
  c: [monotonicMs: number, wallMs: number];
  /** The environment, in the first batch of a document and again when it changes. */
  e?: BeaconEnvironment;
  /** Addresses of the pages that the batch's `page` events name by their index. */
  p?: string[];
  /**
   * Ids that the page gives to texts in its fields, such as an essay: the batch's `writing` events name them by their index.
   * Empty for a field without one.
   */
  w?: string[];
  /** Indexes in AUTOMATION_MARKS that were found since the last batch. */
  m?: number[];
  /** What a full buffer dropped since the last batch. */
  l?: [moves: number, others: number];
  /** The events, one after the other: code, time, fields (see EVENTS). */
  ev: number[];
}

/** A batch as the pixel sends it. */
export interface Beacon extends BeaconContent {
  v: typeof BEACON_VERSION;
  /** The site key. */
  k: string;
  /** The session's nonce: 32 hexadecimal digits. */
  s: string;
  /** The token of the first answer. A batch without one is the first of its document. */
  t?: string;
  /** The device's random id: 32 hexadecimal digits. Absent if storage is refused or the page switched it off. */
  i?: string;
  /**
   * Who the visitor is, when that has changed. Without an id the page says that nobody is signed in, which tells nothing. Null once it
   * is read: the page names somebody by an id that cannot be kept.
   */
  u?: BeaconUser | null;
  /** The page asked to ignore Global Privacy Control. Counts only if the integration allows it. */
  g?: 1;
  /** The session ends with this batch. */
  x?: 1;
}

/** What the collector answers with status 200. Status 204 means that nothing of the batch is kept. */
export interface BeaconAnswer {
  /** For later batches. In the answer to a batch without a valid token. */
  token?: string;
  /** The session is closed. The pixel begins a new one. */
  ended?: true;
}

export interface BeaconUser {
  id: string;
  name?: string;
  email?: string;
  url?: string;
  /** HMAC-SHA256 of the id under the integration's identity secret, in lowercase hexadecimal digits. */
  hash?: string;
  /** The context, such as a course. */
  context?: string;
  /** The pixel read the id from a page of a learning platform; the page did not give it to the pixel. */
  lms?: 1;
}

/**
 * A coarse description of the browser: what rules read. It is nobody's identity and stays in the trace. Older pixels also send
 * `l`, `z`, `o` and `g` (languages, time zone, platform, GPU), which are ignored like all unknown names: do not reuse them
 * for something else.
 */
export interface BeaconEnvironment {
  /** navigator.webdriver: 0 false, 1 true, 2 neither. */
  w: 0 | 1 | 2;
  /** outer width and height, inner width and height, screen width and height, available height, screen x and y (CSS px), device pixel ratio × 1000 (−1 if the page has set it). */
  v: [
    outerWidth: number,
    outerHeight: number,
    innerWidth: number,
    innerHeight: number,
    screenWidth: number,
    screenHeight: number,
    availableHeight: number,
    screenX: number,
    screenY: number,
    pixelRatioThousandths: number,
  ];
  /** Logical processors, memory in GiB, touch points, plugins; −1 where unknown. */
  h: [cores: number, memoryGiB: number, touchPoints: number, plugins: number];
  /** Bits, see ENVIRONMENT_BITS. */
  b: number;
  /** How often reading an error that was given to console.groupEnd called back: `prepareStackTrace`, a getter of `name`. */
  q: [prepareStackTrace: number, nameGetter: number];
  /** Brands of the browser: text of at most 256 characters. */
  r: string;
}

/** Bits of `BeaconEnvironment.b`. */
export const ENVIRONMENT_BITS = {
  /** The document is in a frame. */
  framed: 1,
  /** `window.chrome` exists. Older pixels say so; no rule reads it. */
  chromeObject: 2,
  /** The getter of navigator.webdriver is not native code. Older pixels say so; no rule reads it. */
  changedWebdriver: 4,
  /** The document had the focus. Older pixels say so; no rule reads it. */
  focused: 8,
  /** The document was hidden. */
  hidden: 16,
  /** The user agent's words or brands say Headless. */
  headlessBrand: 32,
  /** The document was restored or activated after a prerender. */
  prerendered: 64,
} as const;

/**
 * Names that automation leaves in a page. `window` names are properties of `window`; one that ends with `*` is a prefix.
 * `body` names are ids of elements directly in `body`, where the tools put them: anybody may write such an id into a post, and
 * learning platforms keep it. `root` names are attributes of the root element. A mark is proof, so a name must be
 * one that a page or an installed extension would not choose. The pixel does not look for `retired` names and no rule counts
 * them: pages and extensions may have them, or only tools that are too old to run the pixel. Append only: the wire names
 * them by their index.
 */
export const AUTOMATION_MARKS = [
  ['window', 'cdc_adoQpoasnfa*'],
  ['retired', '__pw*'],
  ['window', '__playwright_*'],
  ['window', '__puppeteer_*'],
  ['window', '__webdriver_*'],
  ['retired', '__selenium*'],
  ['retired', '_Selenium*'],
  ['retired', '__driver_*'],
  ['retired', '__fxdriver*'],
  ['retired', '__nightmare'],
  ['retired', '_phantom'],
  ['retired', 'callPhantom'],
  ['window', 'domAutomation*'],
  ['window', '__stagehand*'],
  ['window', '__browserUse*'],
  ['root', 'webdriver'],
  ['retired', 'selenium'],
  ['retired', 'driver'],
  ['body', 'playwright-highlight-container'],
  ['body', 'claude-agent-glow-border'],
  ['body', 'claude-agent-stop-container'],
  ['body', 'claude-phantom-cursor'],
  ['retired', 'codex-agent-overlay-root'],
  ['window', '__pwInitScripts'],
] as const satisfies readonly (readonly ['window' | 'body' | 'root' | 'retired', string])[];

/**
 * Codes of the events. An event is its code, the time since the event before it in tenths of a millisecond (the first of a
 * batch: since the document's time origin), and the fields of EVENT_FIELDS. Append only.
 */
export enum EventCode {
  Move = 1,
  MoveSummary = 2,
  Press = 3,
  Release = 4,
  Click = 5,
  KeyDown = 6,
  KeyUp = 7,
  Input = 8,
  Clipboard = 9,
  Focus = 10,
  Scroll = 11,
  Wheel = 12,
  Touch = 13,
  Visibility = 14,
  Page = 15,
  Leave = 16,
  Alive = 17,
  Composition = 18,
  Writing = 19,
}

/**
 * The fields of each event, in their order on the wire. Coordinates are CSS pixels; names that end with `10` are tenths.
 * `flags` are EVENT_FLAGS. `field` numbers the input fields of a document, −1 is none. `role` is an index of ELEMENT_ROLES.
 * For a field for a password no KeyDown, KeyUp, Input, Clipboard, Composition or Writing is sent. Its Focus has the field −1
 * and the role `input`. Where a closed shadow tree may hide one, lengths are 0 and keys that write are of the class `other`,
 * until an input shows that there is a field. (Older pixels did so in all password fields, and numbered these.)
 */
export const EVENT_FIELDS = {
  /** A mouse or pen moved, since the last Move of the batch (the first: from 0, 0). Thinned: straight stretches lose points. */
  [EventCode.Move]: ['dx', 'dy'],
  /** All moves since the last summary, before thinning. `coalesced` is the most events that one had, 0 where unknown. */
  [EventCode.MoveSummary]: ['count', 'coalesced', 'mismatched', 'fractional'],
  /** `offset` is from the middle of the element's box, `screen` is screenX − clientX − window.screenX. */
  [EventCode.Press]: [
    ...['pointer', 'button', 'x10', 'y10', 'offsetX10', 'offsetY10', 'width', 'height', 'pressurePercent'],
    ...['screenX10', 'screenY10', 'role', 'flags'],
  ],
  [EventCode.Release]: ['pointer', 'held10', 'flags'],
  [EventCode.Click]: ['detail', 'role', 'flags'],
  /** `class` is an index of KEY_CLASSES; `slot` tells which KeyUp belongs to it, which can come in another field. */
  [EventCode.KeyDown]: ['class', 'slot', 'flags'],
  [EventCode.KeyUp]: ['slot', 'flags'],
  /** `type` is an index of INPUT_TYPES; lengths are characters: of the inserted text, and of the whole value. */
  [EventCode.Input]: ['field', 'type', 'insertedLength', 'valueLength', 'flags'],
  /** `kind` is an index of CLIPBOARD_KINDS; the length is −1 where unknown. */
  [EventCode.Clipboard]: ['kind', 'length', 'flags'],
  [EventCode.Focus]: ['field', 'role', 'flags'],
  [EventCode.Scroll]: ['y'],
  /** Turns less than 200 ms apart: their sum, and how many. */
  [EventCode.Wheel]: ['deltaY', 'mode', 'count'],
  [EventCode.Touch]: ['touches', 'flags'],
  /** 0 visible, 1 hidden. */
  [EventCode.Visibility]: ['state'],
  /** `page` is an index in `p`; `cause` an index of PAGE_CAUSES. */
  [EventCode.Page]: ['page', 'cause'],
  /** The page was left; 1 if the browser may restore it. */
  [EventCode.Leave]: ['persisted'],
  /** Nothing happened, but the page is still there. */
  [EventCode.Alive]: [],
  /** An input method began (0) or ended (1) a composition of this length. */
  [EventCode.Composition]: ['phase', 'length'],
  /**
   * The field is one in which a person writes at length: `document` is an index in `w`, `fromEnd` how many characters follow
   * the caret, −1 where unknown. Stands directly before each Input of the field, which can be the first of the next batch.
   * An Input without one says the same as the field's last one.
   */
  [EventCode.Writing]: ['field', 'document', 'fromEnd'],
} as const satisfies Record<EventCode, readonly string[]>;

/** Bits of the field `flags`. */
export const EVENT_FLAGS = {
  trusted: 1,
  /** KeyDown: the key has a code, as keys of a keyboard do. */
  hasCode: 2,
  shift: 4,
  /** Control or Meta. */
  control: 8,
  alt: 16,
  capsLock: 32,
  repeated: 64,
  /** The target is a text area or an editable element. */
  multiline: 128,
  /** Press, Release, Click: has the type of its pointer, as clicks that no script made. */
  hasPointer: 256,
  /** The target has a value that the browser filled in. */
  autofilled: 512,
} as const;

export const POINTERS = ['mouse', 'pen', 'touch'] as const;
export const KEY_CLASSES = [
  ...(['letter', 'capital', 'digit', 'space', 'punctuation', 'enter', 'backspace', 'delete', 'tab'] as const),
  ...(['arrow', 'shift', 'capsLock', 'modifier', 'composition', 'other'] as const),
] as const;
export const INPUT_TYPES = [
  ...(['other', 'insertText', 'insertFromPaste', 'insertFromDrop', 'deleteContent', 'insertComposition'] as const),
  ...(['insertReplacement', 'insertLineBreak', 'history', 'none'] as const),
] as const;
export const CLIPBOARD_KINDS = ['paste', 'copy', 'cut', 'drop'] as const;
export const PAGE_CAUSES = ['load', 'history', 'restored', 'activated'] as const;
export const ELEMENT_ROLES = [
  ...(['other', 'page', 'link', 'button', 'input', 'textarea', 'editable', 'select', 'checkbox', 'radio'] as const),
  ...(['label', 'summary', 'media', 'canvas', 'frame'] as const),
] as const;
