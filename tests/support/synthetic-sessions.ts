import {
  AUTOMATION_MARKS,
  type BeaconEnvironment,
  ELEMENT_ROLES,
  EVENT_FLAGS,
  EventCode,
  INPUT_TYPES,
} from '../../contract/beacon';
import type { Trace } from '../../server/detection/trace';
import { buildTrace, CHROME, CHROME_OS, DESKTOP, FIREFOX, IPHONE, seedRandom, TraceBuilder, WINDOWS } from './trace';

// Synthetic sessions: what people and programs would leave in a trace, as far as we know. No person and no browser made
// them, so they show that rules work together, not how often they are right.

/** How somebody does a task. What is not said is done as a person with a mouse and a keyboard does it. */
export interface Manner {
  environment?: Partial<BeaconEnvironment>;
  userAgent?: string;
  marks?: string[];
  /** How the mouse comes to what it presses. Sometimes: with one move to every other place. */
  approach?: 'moves' | 'slow' | 'jump' | 'sometimes' | 'none';
  presses?: 'mouse' | 'touch' | 'keyboard' | 'accessibility' | 'script';
  pressurePercent?: number;
  /** How far below the corner of its window, or of the screen that it says it fills, the page is. */
  barsPx?: number;
  isFractional?: boolean;
  isCentred?: boolean;
  holdMs?: (random: () => number) => number;
  isCoalesced?: boolean;
  isMismatched?: boolean;
  text?: 'keys' | 'insert' | 'fill' | 'autofill' | 'dictation' | 'paste' | 'composition' | 'script';
  dwellMs?: (random: () => number) => number;
  intervalMs?: (random: () => number) => number;
  hasShift?: boolean;
  keyFlags?: number;
  /** Whether a script presses. */
  isUntrusted?: boolean;
  /** When what is pressed gets the focus: before the press, as from assistive technology, or after it, as from a pointer. */
  focus?: 'before' | 'after' | 'never';
  /** Whether fields get the focus without a press, and how long before the text. */
  isFocusSudden?: boolean;
  focusToTextMs?: number;
  clockStepMs?: number;
  /** The page moves to what is used next without a wheel, as by a command. */
  isScrolledByCommand?: boolean;
  /** How many of its events the pixel dropped, and the network that it came from. */
  dropped?: number;
  network?: number;
}

const ESSAY = 'The Treaty of Rome was signed in March and It Changed how States trade with each other ever since.';
const { trusted, hasCode, shift, multiline } = EVENT_FLAGS;
const role = (name: (typeof ELEMENT_ROLES)[number]) => ELEMENT_ROLES.indexOf(name);
const inputType = (name: (typeof INPUT_TYPES)[number]) => INPUT_TYPES.indexOf(name);

/** A task on one page: four answers, a name, an essay, and a button that hands it in. */
export class SyntheticTask {
  private readonly random: () => number;
  private readonly builder: TraceBuilder;
  private mouse = { x: 700, y: 400 };
  private lengths = [0, 0];
  private scrolled = 0;
  private places = 0;

  constructor(
    private readonly manner: Manner,
    seed: number,
    document = '00000000000000d1',
    laterMs = 0,
  ) {
    this.random = seedRandom(seed);
    const environment = { ...DESKTOP, ...manner.environment };
    const { clockStepMs } = manner;
    this.builder = new TraceBuilder({ document, originMs: 1_800_000_000_000 + laterMs, environment, clockStepMs });
    this.builder.wait(900);
    if (manner.isScrolledByCommand) this.builder.add(EventCode.Scroll, { y: 5 });
  }

  /** Does the whole task. Each part is sent in a batch. */
  run(): TraceBuilder {
    for (const [x, y] of [
      [320, 240],
      [340, 330],
      [310, 480],
      [360, 610],
    ] as const) {
      this.pause(700, 2_500).press(x, y, 'label');
      this.builder.send(this.marks());
    }
    this.pause(600, 1_500).write(500, 300, 0, 'Ada L', 'input');
    this.builder.send();
    this.pause(800, 2_000).write(520, 450, 1, ESSAY, 'textarea');
    this.builder.send();
    this.pause(900, 2_000).press(900, 700, 'button');
    return this.builder.send();
  }

  private marks() {
    const { marks = [], dropped, network } = this.manner;
    return {
      ...(marks.length > 0 && { m: marks.map((name) => AUTOMATION_MARKS.findIndex(([, other]) => other === name)) }),
      ...(dropped !== undefined && { l: [dropped, 0] as [number, number] }),
      ...(network !== undefined && { network }),
    };
  }

  private between(min: number, max: number): number {
    return min + this.random() * (max - min);
  }

  private pause(min: number, max: number): this {
    this.builder.wait(this.between(min, max));
    return this;
  }

  /** Moves the mouse along a bent path with an uneven speed. */
  private moveTo(x: number, y: number): void {
    const { approach = 'moves', isCoalesced = true, isFractional = false, isMismatched = false } = this.manner;
    if (approach === 'none' || (approach === 'sometimes' && ++this.places % 2 === 1)) return;
    const from = this.mouse;
    const isJump = approach === 'jump' || approach === 'sometimes';
    const steps = isJump ? 1 : Math.round(approach === 'slow' ? this.between(4, 7) : this.between(18, 40));
    const bend = this.between(-40, 40);
    for (let step = 1; step <= steps; step++) {
      const share = (1 - Math.cos((Math.PI * step) / steps)) / 2;
      const off = step === steps ? 0 : Math.sin(Math.PI * share) * bend + this.between(-1, 1);
      this.builder.wait(isJump ? 1 : approach === 'slow' ? this.between(60, 130) : this.between(7, 18));
      const place = [from.x + share * (x - from.x) + off, from.y + share * (y - from.y) + off / 2] as const;
      this.builder.move(...place, {
        coalesced: isCoalesced && this.random() < 0.5,
        fractional: isFractional,
        mismatched: isMismatched,
      });
    }
    this.mouse = { x, y };
  }

  private focus(on: (typeof ELEMENT_ROLES)[number], field = -1): void {
    const flags = trusted | (on === 'textarea' ? multiline : 0);
    this.builder.add(EventCode.Focus, { field, role: role(on), flags });
  }

  private press(centreX: number, centreY: number, on: (typeof ELEMENT_ROLES)[number], field?: number): this {
    if (this.manner.isScrolledByCommand) {
      this.scrolled += 500;
      this.builder.wait(2_600).add(EventCode.Scroll, { y: this.scrolled }).wait(400);
    }
    const {
      presses = 'mouse',
      pressurePercent = 50,
      isCentred = false,
      isFractional = false,
      barsPx = 87,
    } = this.manner;
    const { builder } = this;
    if (presses === 'keyboard') {
      builder.key('tab', this.between(60, 120)).wait(this.between(150, 400)).key('space', this.between(60, 120));
      builder.add(EventCode.Click, { detail: 0, role: role(on), flags: trusted });
      return this;
    }
    if (presses === 'accessibility' || presses === 'script') {
      builder.add(EventCode.Click, { detail: 0, role: role(on), flags: presses === 'script' ? 0 : trusted });
      return this;
    }
    const half = isFractional ? 0.5 : 0;
    const offset = isCentred ? [0, 0] : [Math.round(this.between(-40, 40)), Math.round(this.between(-9, 9))];
    const x = centreX + half + offset[0]!;
    const y = centreY + half + offset[1]!;
    this.moveTo(x, y);
    const holdMs = (this.manner.holdMs ?? (() => this.between(55, 140)))(this.random);
    if (presses === 'touch') builder.add(EventCode.Touch, { touches: 1 });
    builder.wait(this.manner.approach ? 1 : this.between(40, 200));
    const fields = {
      ...{ pointer: presses === 'touch' ? 2 : 0, pressurePercent, role: role(on) },
      flags: this.manner.isUntrusted ? 0 : trusted,
      ...{ offsetX10: offset[0]! * 10, offsetY10: offset[1]! * 10 },
      ...{ screenX10: barsPx === 0 ? 0 : 80, screenY10: 10 * barsPx },
    };
    const { focus = 'after' } = this.manner;
    // A label passes the focus on.
    const takeFocus = (when: Manner['focus']) => on !== 'label' && focus === when && this.focus(on, field);
    takeFocus('before');
    builder.press(x, y, holdMs, fields, () => takeFocus('after'));
    return this;
  }

  private write(x: number, y: number, field: number, text: string, on: 'input' | 'textarea'): void {
    const { builder, manner } = this;
    const flags = trusted | (on === 'textarea' ? multiline : 0);
    if (manner.presses === 'keyboard') builder.key('tab', 90);
    else if (!manner.isFocusSudden) this.press(x, y, on, field);
    builder.wait(2);
    if (manner.presses === 'keyboard' || manner.isFocusSudden) this.focus(on, field);
    builder.wait(manner.focusToTextMs ?? 0);
    const way = manner.text ?? 'keys';
    const add = (type: (typeof INPUT_TYPES)[number], length: number, isTrusted = true) => {
      this.lengths[field]! += length;
      const valueLength = this.lengths[field]!;
      const given = isTrusted ? flags : flags & ~trusted;
      builder.add(EventCode.Input, { field, type: inputType(type), insertedLength: length, valueLength, flags: given });
    };
    if (way === 'fill' || way === 'script') {
      builder.wait(3);
      add(way === 'fill' ? 'insertText' : 'none', text.length, way === 'fill');
      return;
    }
    if (way === 'autofill') {
      const given = flags | EVENT_FLAGS.autofilled;
      builder.wait(3).add(EventCode.Input, {
        ...{
          field,
          type: inputType('insertText'),
          insertedLength: text.length,
          valueLength: text.length,
          flags: given,
        },
      });
      return;
    }
    if (way === 'insert') {
      builder.wait(60);
      add('insertText', text.length);
      return;
    }
    if (way === 'paste') {
      builder.wait(900).add(EventCode.Clipboard, { kind: 0, length: text.length }).wait(1);
      add('insertFromPaste', text.length);
      return;
    }
    if (way === 'dictation') {
      for (const phrase of text.match(/.{1,24}/g)!) {
        builder.wait(phrase.length * this.between(55, 80));
        add('insertText', phrase.length);
      }
      return;
    }
    for (const character of text) this.type(character, add);
  }

  private type(character: string, add: (type: 'insertText' | 'insertComposition', length: number) => void): void {
    const { builder, manner } = this;
    const intervalMs = (manner.intervalMs ?? (() => 70 + 180 * this.random() ** 2))(this.random);
    const dwellMs = (manner.dwellMs ?? (() => this.between(60, 130)))(this.random);
    const isCapital = character >= 'A' && character <= 'Z';
    const isShifted = isCapital && (manner.hasShift ?? true);
    const isComposition = manner.text === 'composition';
    const kind = isComposition ? 'composition' : isCapital ? 'capital' : character === ' ' ? 'space' : 'letter';
    builder.wait(Math.max(0, intervalMs - dwellMs));
    if (isComposition) builder.add(EventCode.Composition, { phase: 0 });
    const flags = (manner.keyFlags ?? trusted | hasCode) | (isShifted ? shift : 0);
    // The text comes with the key, before it is released.
    builder.key(kind, dwellMs, flags, () => add(isComposition ? 'insertComposition' : 'insertText', 1));
    if (isComposition) builder.add(EventCode.Composition, { phase: 1, length: 1 });
  }
}

const uniform = (min: number, max: number) => (random: () => number) => min + random() * (max - min);
const PHONE = CHROME.replace('X11; Linux x86_64', 'Linux; Android 15; K').replace('Safari', 'Mobile Safari');
const HEADLESS = CHROME.replace('Chrome/', 'HeadlessChrome/');
const size = (width: number, height: number): BeaconEnvironment['v'] => [
  ...([width, height, width, height, width, height, height, 0, 0, 1_000] as const),
];
const PHONE_WINDOW: BeaconEnvironment['v'] = [412, 839, 412, 839, 412, 839, 839, 0, 0, 2_625];
const AGENT_WINDOW: BeaconEnvironment['v'] = [1280, 720, 1280, 720, 1920, 1080, 1080, 0, 0, 1_000];
const ratio = (thousandths: number) => ({ v: [...DESKTOP.v.slice(0, 9), thousandths] as BeaconEnvironment['v'] });
const INSTANT = { dwellMs: uniform(0.2, 1.5), intervalMs: uniform(1.5, 4) };
const PUPPETEER: Manner = { ...INSTANT, pressurePercent: 0, isFractional: true, isCentred: true, approach: 'jump' };
const PLAYWRIGHT: Manner = { isFractional: true, isCentred: true, approach: 'jump', holdMs: uniform(0.3, 0.9) };
const CDP: Manner = { pressurePercent: 0, approach: 'none', holdMs: uniform(20, 60) };

/** Programs, by the name of the driver that they imitate. */
export const AGENTS: Record<string, Manner> = {
  'playwright fill': {
    ...{ ...PLAYWRIGHT, userAgent: HEADLESS, text: 'fill', isFocusSudden: true },
    environment: { w: 1, v: AGENT_WINDOW, q: [1, 2], b: 2 + 8 + 32 },
  },
  'playwright paced, with a window': {
    ...{ ...PLAYWRIGHT, dwellMs: uniform(0.5, 2), intervalMs: uniform(58, 62) },
    environment: { w: 1, v: AGENT_WINDOW, q: [1, 2] },
  },
  'playwright mcp fill': {
    ...{ ...PLAYWRIGHT, userAgent: HEADLESS, text: 'fill', isFocusSudden: true },
    environment: { v: AGENT_WINDOW, q: [1, 2], b: 2 + 8 + 32 },
  },
  'playwright mcp slowly': {
    ...{ ...PLAYWRIGHT, userAgent: HEADLESS, dwellMs: uniform(0.5, 2), intervalMs: uniform(4, 9) },
    environment: { v: AGENT_WINDOW, q: [1, 2], b: 2 + 8 + 32 },
  },
  puppeteer: { ...PUPPETEER, environment: { w: 1, v: [800, 600, 800, 600, 1920, 1080, 1080, 0, 0, 1_000] } },
  'puppeteer stealth': PUPPETEER,
  'ghost-cursor': { ...INSTANT, pressurePercent: 0, isFractional: true, isCoalesced: false },
  'rebrowser puppeteer': { ...PUPPETEER, pressurePercent: 50, hasShift: false },
  'rebrowser playwright': { ...PLAYWRIGHT, holdMs: uniform(60, 130), hasShift: false },
  patchright: { ...PLAYWRIGHT, holdMs: uniform(60, 130) },
  selenium: {
    ...{ ...INSTANT, approach: 'jump', isCentred: true, isFocusSudden: true, marks: ['cdc_adoQpoasnfa*'] },
    environment: { w: 1, q: [1, 0] },
  },
  'undetected-chromedriver': {
    ...INSTANT,
    approach: 'jump',
    isCentred: true,
    isFocusSudden: true,
    marks: ['cdc_adoQpoasnfa*'],
  },
  'raw cdp insertText': { ...CDP, text: 'insert' },
  'raw cdp keys': { ...CDP, ...INSTANT },
  'declared agent': { marks: ['claude-agent-glow-border'] },
  'script in the page': { presses: 'script', text: 'script', isFocusSudden: true },
};

/** A program that lets the page believe that it is on a phone: noticed, but with too little to be sure. */
export const IMITATED_PHONE: Manner = {
  ...{ presses: 'touch', approach: 'none', isCentred: true, holdMs: uniform(0, 0.4), barsPx: 97, userAgent: PHONE },
  ...{ text: 'fill', environment: { v: PHONE_WINDOW, h: [8, 8, 1, 5] } },
};

/** A program that the rules cannot tell from a person. */
export const RECORDED_HUMAN: Manner = {};

const TOUCH: Manner = {
  ...{ presses: 'touch', approach: 'none', isFractional: true, pressurePercent: 0, keyFlags: trusted, hasShift: false },
};
/** Where the pointer of the system stands between pixels. */
const TAPS_BETWEEN_PIXELS: Manner = { isFractional: true, holdMs: uniform(1, 5) };

/** People, by how they use a computer. */
export const PEOPLE: Record<string, Manner> = {
  'mouse and keyboard': {},
  'mouse and keyboard on Windows': { userAgent: WINDOWS },
  Firefox: { userAgent: FIREFOX, isCoalesced: false, environment: { b: 8, q: [0, 0] } },
  'keyboard only': { presses: 'keyboard' },
  touch: TOUCH,
  'keyboard on the screen of a phone': {
    ...{ ...TOUCH, userAgent: IPHONE, environment: { h: [4, 0, 5, 0] }, keyFlags: trusted | hasCode },
    dwellMs: uniform(0, 5),
  },
  'tap-to-click trackpad': { holdMs: uniform(1, 5) },
  'tapped trackpad of a Chromebook': { ...TAPS_BETWEEN_PIXELS, userAgent: CHROME_OS },
  'tap-to-click trackpad on Wayland': TAPS_BETWEEN_PIXELS,
  'screen reader': { presses: 'accessibility', isFocusSudden: true, focusToTextMs: 700 },
  'voice control and dictation': {
    ...{ approach: 'jump', isCentred: true, holdMs: uniform(0, 0.5), text: 'dictation', isFocusSudden: true },
  },
  'eye tracker or switch': {
    ...{ approach: 'jump', holdMs: uniform(0, 2), dwellMs: uniform(0, 5), intervalMs: uniform(700, 900) },
  },
  'input method': { text: 'composition' },
  'paste of a prepared text': { text: 'paste' },
  'zoom to 125 %': { isFractional: true, environment: ratio(1_250) },
  'screen with two pixels to one': { isFractional: true, environment: ratio(2_000) },
  'remote desktop': { approach: 'jump', isCoalesced: false },
  'docked developer tools': {
    environment: { v: [1400, 900, 1385, 420, 1920, 1080, 1053, 120, 40, 1_000], q: [1, 3] },
  },
  'undocked developer tools': { environment: { q: [1, 3] } },
  'a page as on a phone in developer tools': {
    ...{ presses: 'touch', approach: 'none', barsPx: 150, userAgent: PHONE },
    environment: { v: PHONE_WINDOW, h: [8, 8, 5, 5], q: [1, 3] },
  },
  'kiosk in full screen': { environment: { v: size(1280, 720) }, barsPx: 0 },
  'clock rounded to 100 ms': { clockStepMs: 100 },
};

/** The trace of a task done in a manner. */
export function imitate(manner: Manner, seed = 1): Trace {
  return buildTrace(new SyntheticTask(manner, seed).run(), manner.userAgent);
}
