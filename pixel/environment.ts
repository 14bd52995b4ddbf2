import type { BeaconEnvironment } from '../contract/beacon';
import { MARKS, packBits } from './codes';
import { describeVariable, findElement, readDocument } from './document';
import { guard } from './guard';
import { toInteger } from './wire';

interface HintedNavigator extends Navigator {
  deviceMemory?: number;
  userAgentData?: { brands: { brand: string; version: string }[] };
}

/** Describes the browser coarsely. Reads neither canvas nor audio, which would make a fingerprint. */
export function readEnvironment(isRevived: boolean | undefined): BeaconEnvironment {
  const about: HintedNavigator = navigator;
  const brands = `${[about.userAgentData?.brands.map((one) => `${one.brand}/${one.version}`)]}`.slice(0, 256);
  return {
    w: about.webdriver ? 1 : about.webdriver === false ? 0 : 2,
    v: [
      outerWidth,
      outerHeight,
      innerWidth,
      innerHeight,
      screen.width,
      screen.height,
      screen.availHeight,
      screenX,
      screenY,
      // Some pages set it to 1 in order to draw less. Then nobody knows how their pixels relate to the screen's.
      describeVariable('devicePixelRatio')!.get && devicePixelRatio * 1000,
    ].map(toInteger) as BeaconEnvironment['v'],
    h: [about.hardwareConcurrency, about.deviceMemory, about.maxTouchPoints, about.plugins.length].map(
      toInteger,
    ) as BeaconEnvironment['h'],
    b: packBits(
      // The zeros are bits of earlier pixels, which no rule reads.
      ...[window !== top, 0, 0, 0, readDocument('hidden')],
      ...[/headless/i.test(about.userAgent + brands), isRevived],
    ),
    q: guard(probeInspector)() ?? [-1, -1],
    r: brands,
  };
}

/** Whether the browser made a function. What a page has bound or put behind a proxy has no name in its text. */
const NATIVE = /\w\(\) {\s*\[native/;

/**
 * Counts how often the browser reads an error that is given to the console. It does so more often while something is
 * attached to its inspector. `groupEnd` shows nothing in the console, unlike `debug`; both are read in the same way.
 * Monitoring tools and development servers replace functions of the console and read errors themselves, and some replace
 * `Error`. So only the console of the browser is asked, and what happens while an error is made does not count. A page that
 * writes stacks itself (`Error.prepareStackTrace`) is not asked.
 */
function probeInspector(): [prepareStackTrace: number, nameGetter: number] | undefined {
  let stacks = 0;
  let names = 0;
  const errors: { prepareStackTrace?: unknown } = Error;
  const error = new Error();
  // biome-ignore lint/suspicious/noConsole: it writes nothing
  const ask = console.groupEnd as (what: unknown) => void;
  if ('prepareStackTrace' in errors || !NATIVE.test(ask as never)) return;
  errors.prepareStackTrace = () => stacks++;
  guard(() => ask(error))();
  delete errors.prepareStackTrace;
  ask(Object.defineProperty(error, 'name', { get: () => names++ }));
  return [stacks, names];
}

/** Returns which of AUTOMATION_MARKS are there, except those that are known. */
export function findMarks(known: number[]): number[] {
  // A search in one text takes a tenth of the time of a loop: a window has over a thousand names.
  const names = `,${Object.getOwnPropertyNames(window)},`;
  return MARKS.flatMap((mark, index) =>
    known.includes(index) || !(/[>[]/.test(mark) ? findElement(mark) : mark && names.includes(`,${mark}`)) ? [] : index,
  );
}
