// What the laboratory drives: programs (drivers) and people's ways of input (controls) act out the same visits.

export const TASKS = ['quiz', 'essay', 'reading', 'navigation', 'composition'] as const;
export type Task = (typeof TASKS)[number];
/** The tasks whose sessions are judged and fitted. A composition takes minutes: a few are recorded, for the demo. */
export const JUDGED_TASKS: readonly Task[] = TASKS.filter((task) => task !== 'composition');

/** One deed of a visit. All targets are ids: `#name`. */
export type Step =
  /** A link, a radio button, a checkbox or a button. */
  | { do: 'click'; target: string }
  /** Into an empty field or text area. A person clicks it first. Letters, spaces, full stops and commas only. */
  | { do: 'type'; target: string; text: string }
  | { do: 'scroll'; byPx: number }
  | { do: 'read'; forMs: number }
  /** Wait until the page, or the next page, shows this. */
  | { do: 'arrive'; target: string };

export interface Visit {
  url: string;
  task: Task;
  seed: number;
  isHeadful: boolean;
  steps: readonly Step[];
  /** A fresh directory for the browser's profile and whatever else the subject writes. */
  profile: string;
  /** The environment of programs that the subject starts. For a headful driver its DISPLAY is a separate screen. */
  env: NodeJS.ProcessEnv;
  geometry: GeometryFeed;
}

export interface Subject {
  /** Unique, in kebab-case. It names the recordings. */
  name: string;
  /** What is left out together when weights are fitted: tools that work in the same way. */
  family: string;
  kind: 'driver' | 'control';
  /** How its input reaches the browser: 'real' counts in intervals; 'simulated' is listed and counts in none. */
  input: 'real' | 'simulated';
  isHeadful: boolean;
  /** What this machine lacks, in words. Null: it can run. */
  findMissing(): string | null;
  /** Acts out the visit: opens a browser, takes the steps, closes the browser. */
  act(visit: Visit): Promise<void>;
}

/** A box on a page, in CSS pixels from the corner of the viewport. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** How a page and its window are now, as the page itself tells. Lengths are CSS pixels. */
export interface Geometry {
  /** The page's address without its origin. */
  path: string;
  /** `pixelRatio` is that of the screen and the zoom. `innerX` and `innerY` are the page's corner on the screen, in Firefox only. */
  window: {
    screenX: number;
    screenY: number;
    outerWidth: number;
    outerHeight: number;
    innerWidth: number;
    innerHeight: number;
    pixelRatio: number;
    innerX: number | null;
    innerY: number | null;
  };
  scrollY: number;
  scrollHeight: number;
  hasFocus: boolean;
  /** The id (`#name`) of the element with the focus. */
  focus: string | null;
  /** The elements with an id by `#name`; hidden ones are missing. */
  boxes: Record<string, Box>;
  /** The labels of radio buttons, checkboxes and fields by the `#name` of what they label. */
  labels: Record<string, Box>;
  /** What fields hold, by `#name`: text, or whether a choice is checked. */
  values: Record<string, string | boolean>;
}

/** Where the elements of the visit's page are. The page tells within 100 ms after a change. */
export interface GeometryFeed {
  /** The latest state. Null before the first page has told any. */
  read(): Geometry | null;
  /** Waits for a state. Throws after the limit (20 s unless given). */
  waitFor(isSo: (geometry: Geometry) => boolean, limitMs?: number): Promise<Geometry>;
}
