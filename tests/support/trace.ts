import { type BeaconEnvironment, EVENT_FIELDS, EVENT_FLAGS, EventCode, KEY_CLASSES } from '../../contract/beacon';
import type { Trace, TraceBatch } from '../../server/detection/trace';
import { packNumbers } from '../../server/detection/varints';

// Builds small traces by hand, as the pixel would send them. Synthetic: no person and no browser made them.

type Fields<Code extends EventCode> = Partial<Record<(typeof EVENT_FIELDS)[Code][number], number>>;

export const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
export const CHROME_OS = CHROME.replace('X11; Linux x86_64', 'X11; CrOS x86_64 14541.0.0');
export const WINDOWS = CHROME.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64');
export const MACINTOSH = CHROME.replace('X11; Linux x86_64', 'Macintosh; Intel Mac OS X 10_15_7');
export const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

/** An ordinary desktop browser: a window of 1400 × 900 on a screen of 1920 × 1080. */
export const DESKTOP: BeaconEnvironment = {
  ...{ w: 0, v: [1400, 900, 1385, 813, 1920, 1080, 1053, 120, 40, 1000], h: [8, 8, 0, 5], b: 2 + 8, q: [0, 0] },
  r: 'Chromium/142',
};

/** What a field is if a test does not say. */
const DEFAULTS: Record<string, number> = {
  ...{ flags: EVENT_FLAGS.trusted, width: 120, height: 32, pressurePercent: 50, screenX10: 80, screenY10: 870 },
  ...{ offsetX10: 213, offsetY10: -57, x10: 4000, y10: 3000, role: 3, held10: 870, detail: 1, field: 0, type: 1 },
  ...{ insertedLength: 1, valueLength: 1, count: 1 },
};

/** The same pseudo-random numbers for each seed, from 0 to 1. */
export function seedRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Builds one document. Times are milliseconds of its clock; `wait` moves it on. */
export class TraceBuilder {
  readonly batches: TraceBatch[] = [];
  timeMs = 100;
  private ev: number[] = [];
  private lastTime10 = 0;
  private pages: string[] = [];
  private last = { x: 0, y: 0 };
  private moves = { count: 0, coalesced: 0, mismatched: 0, fractional: 0 };
  private slot = 0;

  constructor(
    readonly options: {
      document?: string;
      originMs?: number;
      environment?: BeaconEnvironment | null;
      url?: string | null;
      /** To what the browser rounds times. */
      clockStepMs?: number;
    } = {},
  ) {
    const { url = 'https://lms.example.edu/quiz' } = options;
    if (url !== null) this.page(url, 0);
  }

  /** Adds an event as it stands on the wire. */
  add<Code extends EventCode>(code: Code, fields: Fields<Code> = {}): this {
    const time10 = Math.round(this.readClock() * 10);
    this.ev.push(code, time10 - this.lastTime10);
    this.lastTime10 = time10;
    const given: Record<string, number | undefined> = fields;
    for (const name of EVENT_FIELDS[code]) this.ev.push(given[name] ?? DEFAULTS[name] ?? 0);
    return this;
  }

  wait(ms: number): this {
    this.timeMs += ms;
    return this;
  }

  private readClock(): number {
    const { clockStepMs = 0.1 } = this.options;
    return Math.round(this.timeMs / clockStepMs) * clockStepMs;
  }

  page(url: string, cause: number): this {
    this.pages.push(url);
    return this.add(EventCode.Page, { page: this.pages.length - 1, cause });
  }

  /** Moves the mouse to a place. The options say what is odd about the move. */
  move(x: number, y: number, odd: { coalesced?: boolean; mismatched?: boolean; fractional?: boolean } = {}): this {
    this.add(EventCode.Move, { dx: Math.round(x) - this.last.x, dy: Math.round(y) - this.last.y });
    this.last = { x: Math.round(x), y: Math.round(y) };
    this.moves.count++;
    if (odd.coalesced ?? true) this.moves.coalesced = 2;
    if (odd.mismatched) this.moves.mismatched++;
    if (odd.fractional) this.moves.fractional++;
    return this;
  }

  /** Tells of the moves since the last summary, as the pixel does before a press and at the end of a batch. */
  summarise(): this {
    if (this.moves.count > 0) this.add(EventCode.MoveSummary, this.moves);
    this.moves = { count: 0, coalesced: 0, mismatched: 0, fractional: 0 };
    return this;
  }

  /** Presses and releases a button of the mouse. `react` adds what the browser does when the button goes down. */
  press(x: number, y: number, heldMs: number, fields: Fields<EventCode.Press> = {}, react?: () => void): this {
    const { pointer = 0, flags = EVENT_FLAGS.trusted, role = DEFAULTS.role! } = fields;
    this.summarise().add(EventCode.Press, { x10: Math.round(x * 10), y10: Math.round(y * 10), ...fields });
    const pressedMs = this.readClock();
    react?.();
    this.wait(heldMs);
    this.add(EventCode.Release, { pointer, held10: Math.round((this.readClock() - pressedMs) * 10), flags });
    return this.add(EventCode.Click, { role, flags: flags | EVENT_FLAGS.hasPointer });
  }

  /** Presses and releases a key. `write` adds what the key writes. */
  key(
    kind: (typeof KEY_CLASSES)[number],
    heldMs: number,
    flags: number = EVENT_FLAGS.trusted | EVENT_FLAGS.hasCode,
    write?: () => void,
  ): this {
    const slot = this.slot++;
    this.add(EventCode.KeyDown, { class: KEY_CLASSES.indexOf(kind), slot, flags });
    write?.();
    return this.wait(heldMs).add(EventCode.KeyUp, { slot, flags: flags & EVENT_FLAGS.trusted });
  }

  /** Ends a batch and sends it. */
  send(extra: Partial<TraceBatch> = {}): this {
    this.summarise();
    const { document = '00000000000000d1', originMs = 1_800_000_000_000, environment = DESKTOP } = this.options;
    const n = this.batches.length;
    this.batches.push({
      ...{ d: document, n, c: [this.timeMs, originMs + this.timeMs], events: packNumbers(this.ev) },
      ...(n === 0 && environment ? { e: environment } : {}),
      ...(this.pages.length > 0 ? { p: this.pages } : {}),
      receivedAtMs: originMs + Math.ceil(this.timeMs) + 40,
      ...extra,
    });
    this.ev = [];
    this.lastTime10 = 0;
    this.pages = [];
    this.last = { x: 0, y: 0 };
    return this;
  }
}

/** The trace of one or several documents. Sends what they have not sent. */
export function buildTrace(builders: TraceBuilder | TraceBuilder[], userAgent = CHROME): Trace {
  return { userAgent, batches: [builders].flat().flatMap((builder) => builder.send().batches) };
}
