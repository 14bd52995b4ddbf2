import { AUTOMATION_MARKS, type BeaconEnvironment } from '../contract/beacon';
import { packBits } from './codes';
import { attempt } from './guard';

interface HintedNavigator extends Navigator {
  deviceMemory?: number;
  userAgentData?: { brands: { brand: string; version: string }[] };
}

/** Describes the browser coarsely. Reads neither canvas nor audio, which would make a fingerprint. */
export function readEnvironment(gpu: string | undefined, isRevived: boolean): BeaconEnvironment {
  const { webdriver, hardwareConcurrency, deviceMemory, maxTouchPoints, plugins, languages, platform, userAgentData } =
    navigator as HintedNavigator;
  const brands = cut(userAgentData?.brands?.map(({ brand, version }) => `${brand}/${version}`));
  const size = [outerWidth, outerHeight, innerWidth, innerHeight, screen.width, screen.height, screen.availHeight];
  return {
    w: webdriver === true ? 1 : webdriver === false ? 0 : 2,
    v: [...size, screenX, screenY, devicePixelRatio * 1000].map(toInteger) as BeaconEnvironment['v'],
    h: [hardwareConcurrency, deviceMemory, maxTouchPoints, plugins?.length].map(toInteger) as BeaconEnvironment['h'],
    b: packBits(
      ...[window !== top, 'chrome' in window, attempt(isWebdriverChanged), document.hasFocus(), document.hidden],
      ...[/headless/i.test(navigator.userAgent + brands), isRevived],
    ),
    q: attempt(probeInspector) ?? [0, 0],
    l: cut(languages),
    z: cut(attempt(() => Intl.DateTimeFormat().resolvedOptions().timeZone)),
    o: cut(platform),
    r: brands,
    g: cut(gpu),
  };
}

const cut = (text: unknown) => String(text ?? '').slice(0, 256);
/** Some browsers lack a number or give a fraction. */
const toInteger = (value: number | undefined) => (Number.isFinite(value) ? Math.round(value!) : -1);
const { getOwnPropertyDescriptor } = Object;

function isWebdriverChanged(): boolean {
  const getter = getOwnPropertyDescriptor(Navigator.prototype, 'webdriver')!.get!;
  const text = Function.prototype.toString.call(getter);
  return !text.includes('[native code]') || !!getOwnPropertyDescriptor(navigator, 'webdriver');
}

/**
 * Counts how often the browser reads an error that is given to the console. It does so more often while something is
 * attached to its inspector. `groupEnd` shows nothing in the console, unlike `debug`; both are read in the same way.
 */
function probeInspector(): [prepareStackTrace: number, nameGetter: number] {
  const counts: [number, number] = [0, 0];
  const countAt = (index: 0 | 1) => () => {
    counts[index]++;
    return '';
  };
  // biome-ignore lint/suspicious/noConsole: it writes nothing
  const probe = (error: Error) => (console.groupEnd as (what: unknown) => void)(error);
  const name = 'prepareStackTrace';
  const own = getOwnPropertyDescriptor(Error, name);
  try {
    Object.defineProperty(Error, name, { value: countAt(0), configurable: true });
    probe(new Error());
  } finally {
    if (own) Object.defineProperty(Error, name, own);
    else delete (Error as { prepareStackTrace?: unknown }).prepareStackTrace;
  }
  probe(Object.defineProperty(new Error(), 'name', { get: countAt(1) }));
  return counts;
}

/** Reads the name of the GPU. Costs milliseconds, because it makes a drawing context. */
export function readGpuName(): string {
  const gl = document.createElement('canvas').getContext('webgl');
  const names = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = gl?.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return cut(name);
}

const found: boolean[] = [];
let knownNames = 0;

/** Answers which of AUTOMATION_MARKS are new since the last call. */
export function findMarks(): number[] {
  // Only names that were added since: a page has over a thousand.
  const names = Object.getOwnPropertyNames(window);
  const added = names.slice(names.length < knownNames ? 0 : knownNames);
  knownNames = names.length;
  const marks: number[] = [];
  AUTOMATION_MARKS.forEach(([where, name], index) => {
    const isThere =
      where === 'id'
        ? document.getElementById(name)
        : where === 'root'
          ? document.documentElement.hasAttribute(name)
          : added.some((other) => (name.endsWith('*') ? other.startsWith(name.slice(0, -1)) : other === name));
    if (isThere && !found[index]) marks.push(index);
    if (isThere) found[index] = true;
  });
  return marks;
}
