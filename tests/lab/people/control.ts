import type { ChildProcess } from 'node:child_process';
import { Person } from '../person';
import { listMissingPrograms, openScreen, type Screen, type ServerCommand } from '../screen';
import { type Geometry, type Step, type Subject, TASKS, type Visit } from '../subject';
import { type BrowserCommand, type BrowserName, findBrowser, prepareBrowser } from './browsers';
import type { Devices } from './devices';
import { MouseAndKeyboard } from './mouse-and-keyboard';
import type { Traits } from './traits';
import { openWindow, type Viewport, WAKING } from './window';

// A control is a person's way to use a computer. What it does not say is usual: a mouse and a keyboard, Chromium, an
// ordinary screen.

export interface Control {
  name: string;
  family: string;
  input?: Subject['input'];
  browser?: BrowserName;
  /** Further arguments of the browser, and settings of Firefox. */
  switches?: readonly string[];
  settings?: Record<string, boolean | number | string>;
  /** Of the browser. */
  env?: (profile: string) => Record<string, string>;
  /** Programs that it needs. */
  needs?: readonly string[];
  /** What else it lacks, in words. */
  findMissing?: () => string | null;
  /** Another X server than usual. */
  server?: (profile: string) => ServerCommand;
  /** Of the browser's processes. */
  niceness?: number;
  traits?: Partial<Traits>;
  /** How its input gets to the X server. */
  connect?: (screen: Screen, visit: Visit) => Promise<Devices>;
  /** Makes the browser notice its devices. */
  wake?: (profile: string) => Promise<void>;
  /** Before the browser opens. */
  furnish?: (screen: Screen, visit: Visit) => Promise<void>;
  /** On the first page, before the first step. */
  prepare?: (desk: Desk) => Promise<void>;
  manner?: (desk: Desk) => Manner;
}

/** Somebody at a browser that shows the visit's page. */
export interface Desk {
  screen: Screen;
  person: Person;
  viewport: Viewport;
  visit: Visit;
  browser: ChildProcess;
}

/** How somebody takes the steps of a visit. */
export type Manner = { [Do in Step['do']]: (step: Extract<Step, { do: Do }>) => Promise<void> };

/** Makes a control a subject of the laboratory. */
export function defineControl(control: Control): Subject {
  const { name, family, input = 'real', browser = 'chromium', needs = [] } = control;
  return {
    ...{ name, family, kind: 'control', input, isHeadful: true },
    findMissing() {
      const missing = listMissingPrograms(needs);
      if (findBrowser(browser) === null) missing.push(browser);
      return missing.length > 0 ? `not installed: ${missing.join(', ')}` : (control.findMissing?.() ?? null);
    },
    act: (visit) => act(control, visit),
  };
}

async function act(control: Control, visit: Visit): Promise<void> {
  const { browser = 'chromium', switches, settings, env, traits } = control;
  const screen = await openScreen(visit, control.server?.(visit.profile));
  let devices: Devices = screen;
  try {
    await control.furnish?.(screen, visit);
    if (control.connect) devices = await control.connect(screen, visit);
    const opened = await openWindow(
      ...([screen, visit.url] as const),
      (probeUrl) => slowDown(prepareBrowser(browser, visit.profile, probeUrl, switches, settings), control.niceness),
      { env: env?.(visit.profile), wake: control.wake && (() => control.wake!(visit.profile)) },
    );
    // Each seed of each control is another person, who does all tasks.
    const person = new Person(
      devices,
      opened.viewport,
      hash(control.name) + visit.seed,
      traits,
      TASKS.indexOf(visit.task),
    );
    const desk: Desk = { screen, person, visit, ...opened };
    await waitForFocus(screen, visit);
    await control.prepare?.(desk);
    const manner = control.manner?.(desk) ?? new MouseAndKeyboard(desk);
    for (const step of visit.steps) await (manner[step.do] as (step: Step) => Promise<void>)(step);
    await screen.closeWindow(opened.browser);
  } finally {
    if (devices !== screen) await devices.close?.();
    await screen.close();
  }
}

const FOCUS_TRIES = 12;
const FOCUS_MS = 5_000;

/** Waits until the page has the focus. A browser that starts a process for the page sometimes notices it with the first key. */
async function waitForFocus(screen: Screen, { geometry }: Visit): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await geometry.waitFor(({ hasFocus }) => hasFocus, FOCUS_MS);
      return;
    } catch (error) {
      if (tries === FOCUS_TRIES) throw error;
      await screen.perform(WAKING);
    }
  }
}

const slowDown = ({ program, args }: BrowserCommand, niceness?: number): BrowserCommand =>
  niceness === undefined ? { program, args } : { program: 'nice', args: ['-n', String(niceness), program, ...args] };

const hash = (text: string) =>
  [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 7);

/** What the page shows now. */
export function look({ visit }: Desk): Geometry {
  const geometry = visit.geometry.read();
  if (geometry === null) throw new Error('the page has not told where it is');
  return geometry;
}
