export const TIME_ZONE_COOKIE = 'time-zone';
export const UTC = 'UTC';
/** As a `datetime-local` field writes it. */
const CLOCK = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Reads the time zone (`Europe/Berlin`) from a cookie's value; anything unknown is UTC. */
export function readTimeZone(value: string | undefined): string {
  try {
    return value ? new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone : UTC;
  } catch {
    return UTC;
  }
}

/** Writes a zone's name for people: `America/New York`. */
export const nameZone = (timeZone: string): string => timeZone.replaceAll('_', ' ');

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the zone's clocks are ahead of UTC at an instant, in milliseconds. */
function findOffsetMs(atMs: number, timeZone: string): number {
  if (timeZone === UTC) return 0;
  let format = formats.get(timeZone);
  if (!format) {
    const numbers = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', calendar: 'gregory', ...numbers });
    formats.set(timeZone, format);
  }
  const part = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const clockMs = Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!);
  return clockMs - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

/** What the zone's clocks show, as the text of an instant: `2026-11-22T15:03:12`. */
const readClock = (atMs: number, timeZone: string) =>
  new Date(atMs + findOffsetMs(atMs, timeZone)).toISOString().slice(0, 19);

const showDay = (clock: string) => `${Number(clock.slice(8, 10))} ${MONTHS[Number(clock.slice(5, 7)) - 1]}`;

/**
 * Names the zone at an instant: `UTC`, `UTC+1`, `UTC−3:30`. Not by its letters (`CET`), because Node and browsers disagree about them.
 */
export function nameOffset(atMs: number, timeZone: string): string {
  const minutes = findOffsetMs(atMs, timeZone) / MINUTE_MS;
  if (minutes === 0) return UTC;
  const rest = Math.abs(minutes) % 60;
  const hours = Math.floor(Math.abs(minutes) / 60);
  return `${UTC}${minutes < 0 ? '−' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`;
}

/** Writes an instant (ISO 8601) in a zone: `22 Nov 2026, 15:03:12 UTC+1`. */
export function showInstant(iso: string, timeZone: string): string {
  const atMs = Date.parse(iso);
  const clock = readClock(atMs, timeZone);
  return `${showDay(clock)} ${clock.slice(0, 4)}, ${clock.slice(11)} ${nameOffset(atMs, timeZone)}`;
}

/** Writes an instant to the minute, without its year: `22 Nov, 15:03`. */
export function showMinute(iso: string, timeZone: string): string {
  const clock = readClock(Date.parse(iso), timeZone);
  return `${showDay(clock)}, ${clock.slice(11, 16)}`;
}

/** Writes an instant as a time of the day: `15:03:12`. */
export const showSecond = (iso: string, timeZone: string): string => readClock(Date.parse(iso), timeZone).slice(11);

/** Finds the day (`2026-11-22`) of an instant in a zone. */
export const findDay = (atMs: number, timeZone: string): string => readClock(atMs, timeZone).slice(0, 10);

/** Writes an instant, in milliseconds, for a field of time: `2026-11-22T15:03`. */
export const showClock = (atMs: number, timeZone: string): string => readClock(atMs, timeZone).slice(0, 16);

/**
 * Finds when a zone's clocks show a time (`2026-11-22T15:03`), in milliseconds; NaN if the text is none. A time that they skip is
 * the one as much later as they skip.
 */
export function findInstant(clock: string, timeZone: string): number {
  const clockMs = CLOCK.test(clock) ? Date.parse(`${clock.slice(0, 16)}:00Z`) : Number.NaN;
  if (Number.isNaN(clockMs)) return clockMs;
  const guessMs = clockMs - findOffsetMs(clockMs, timeZone);
  const atMs = clockMs - findOffsetMs(guessMs, timeZone);
  return showClock(atMs, timeZone) < clock.slice(0, 16) ? guessMs : atMs;
}

/** Finds when a day begins in a zone, in milliseconds. Where clocks skip midnight, it is the first moment after it. */
export const startOfDay = (day: string, timeZone: string): number => findInstant(`${day}T00:00`, timeZone);

/** Finds the day that is `days` after another. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
