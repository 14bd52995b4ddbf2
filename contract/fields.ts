import { z } from 'zod';
import { parseUrl } from './urls';
import { unlessMissing } from './wording';

/** Rejects U+0000, which Postgres cannot store, and lone surrogates, which UTF-8 cannot encode. */
export const isStorableText = (text: string) => !text.includes('\0') && text.isWellFormed();

const countCodePoints = (text: string) => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

/** Whether text has `min` to `max` code points. */
export function isTextOfLength(value: string, min: number, max: number): boolean {
  if (value.length < min) return false;
  // A code point takes at most two UTF-16 units, so most texts need no counting.
  return value.length <= max || (value.length <= 2 * max && countCodePoints(value) <= max);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/** Whether text can be an id in a path: without control characters, and not `.` or `..`, which would vanish from it. */
export const isPathId = (id: string) => id !== '.' && id !== '..' && !CONTROL_CHARACTERS.test(id);

// A host name has at most 253 characters; a longer origin would not fit its index.
const MAX_ORIGIN_LENGTH = 300;

/** Whether text is an absolute http or https address. Customers and staff open it, so it must not be a script or a file. */
export function isWebUrl(url: string): boolean {
  const parsed = parseUrl(url);
  if (parsed === null) return false;
  const { protocol, origin } = parsed;
  return (protocol === 'http:' || protocol === 'https:') && origin.length <= MAX_ORIGIN_LENGTH;
}

/** Text of `min` to `max` code points that can be stored unchanged. */
export const text = (min: number, max: number) =>
  z
    .string()
    .refine(isStorableText, 'contains U+0000 or a lone surrogate')
    .refine(
      (value) => isTextOfLength(value, min, max),
      `must have ${min === 0 ? 'at most' : `${min} to`} ${max} characters`,
    )
    .meta({ minLength: min === 0 ? undefined : min, maxLength: max });

/** Whether text has a letter, digit or sign that can be seen. */
export const showsSomething = (value: string): boolean =>
  /[^\s\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u.test(value);

/** A name in the dashboard's lists and menus, which shows something. White space around it does not count. */
export const nameText = (max: number) =>
  z
    .string()
    .transform((name) => name.trim())
    .pipe(text(1, max).refine(showsSomething, 'has nothing that can be seen'));

/** Cuts text to a number of code points. */
export const cutText = (value: string, max: number) =>
  value.length <= max ? value : [...value.slice(0, 2 * max)].slice(0, max).join('');

/** An identifier from the pipeline or a path: 1 to 256 characters. */
export const idText = (example?: string) =>
  example === undefined ? text(1, 256) : text(1, 256).meta({ minLength: 1, maxLength: 256, example });

/**
 * One word of a list. Input may be in any case; the parsed value has the list's spelling. The OpenAPI document shows
 * the list.
 */
export const word = <const W extends readonly [string, ...string[]]>(words: W) => {
  const byLowerCase = new Map(words.map((w): [string, W[number]] => [w.toLowerCase(), w]));
  return z
    .string()
    .refine((value) => byLowerCase.has(value.toLowerCase()), `must be one of ${words.join(', ')}`)
    .transform((value) => byLowerCase.get(value.toLowerCase()) as W[number])
    .meta({ type: 'string', enum: [...words] });
};

/** Finds a time zone of the IANA database by its name; null if there is none. An offset is no name: Postgres takes its sign the other way. */
function findTimeZone(name: string): string | null {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return /^[+-]/.test(timeZone) ? null : timeZone;
  } catch {
    return null;
  }
}

/**
 * The name of a time zone. One without a place becomes that of a place: Postgres takes `CET` for an offset without summer time, and
 * `IST` for that of Israel.
 */
export const timeZoneName = () =>
  text(1, 64)
    .refine((name) => findTimeZone(name) !== null, 'must be a time zone such as Europe/Paris')
    .transform((name) => (name.includes('/') ? name : findTimeZone(name)!));

/** The earliest time that the API accepts. */
export const MIN_INSTANT_MS = Date.parse('0001-01-01T00:00:00Z');
// One day before the last time that Postgres and `toISOString` write with four digits, so that the end of that day
// still fits.
const MAX_INSTANT_MS = Date.parse('9998-12-31T23:59:59.999Z');

/** An ISO 8601 date-time with offset, in whole milliseconds of UTC after parsing. */
export const instantText = () =>
  z.iso
    .datetime({ offset: true, error: unlessMissing('must be an ISO 8601 date-time with an offset') })
    .refine((value) => {
      const ms = Date.parse(value);
      return ms >= MIN_INSTANT_MS && ms <= MAX_INSTANT_MS;
    }, 'must be a real date of the years 1 to 9998')
    .transform((value) => new Date(value).toISOString());

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;
/** The fraction of a second if it is no whole number of milliseconds. */
const FINER_THAN_MS = /\.\d{3}\d*[1-9]/;
const DAY_MS = 86_400_000;

/** A bound of [start, end). A date as the end means the end of that UTC day. */
export interface RangeBound {
  at: string;
  isWholeDay: boolean;
}

const EXAMPLE_BOUNDS = { start: '2026-01-01', day: '2026-01-01', end: '2026-01-31T09:30:00Z' };

/** A bound in a query: a date, or a date-time with an offset. `day`: a start whose day counts as a whole. */
export const rangeBound = (edge: 'start' | 'day' | 'end', description: string) =>
  z
    .string()
    .transform((value, context): RangeBound => {
      const isWholeDay = DATE_ONLY.test(value);
      const parsed = instantText().safeParse(isWholeDay ? `${value}T00:00:00Z` : value);
      if (!parsed.success) {
        const message = 'must be an ISO 8601 date, or a date-time with an offset';
        context.issues.push({ code: 'custom', input: value, message });
        return z.NEVER;
      }
      // Times of rows are whole milliseconds: the next one is the first at or after a finer bound, as it is the first not before it.
      const laterMs = isWholeDay && edge === 'end' ? DAY_MS : edge !== 'day' && FINER_THAN_MS.test(value) ? 1 : 0;
      return { at: new Date(Date.parse(parsed.data) + laterMs).toISOString(), isWholeDay };
    })
    // Without a format: generated clients would send only one of the two forms.
    .meta({ type: 'string', example: EXAMPLE_BOUNDS[edge], description })
    .optional();

/** The query parameters `startDate` and `endDate`. `things` names what falls into the range. */
export const dateRange = (things: string) => ({
  startDate: rangeBound('start', `${things} at or after it: ISO 8601 date (UTC), or date-time with offset.`),
  endDate: rangeBound(
    'end',
    `${things} before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.`,
  ),
});

/** Whether a range ends before it starts. A day that ends exactly at the start is the day before it. */
export const isReversed = (start: RangeBound, end: RangeBound) =>
  start.at > end.at || (end.isWholeDay && start.at === end.at);

/** A score or a confidence in a query. */
export const scoreBound = (description: string) =>
  z
    .number()
    .min(0, 'must be between 0 and 1')
    .max(1, 'must be between 0 and 1')
    .meta({ format: 'double', description });

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A free-form JSON object with all its properties. A record of zod would lose one of the name `__proto__`. */
export const freeObject = () =>
  z
    .unknown()
    .refine(isObject, { error: unlessMissing('must be an object'), abort: true })
    .meta({ type: 'object', additionalProperties: {} }) as z.ZodType<Record<string, unknown>>;

/** A date-time in an answer. */
export const wireInstant = (example = '2026-01-31T09:30:00.000Z') =>
  z.string().meta({ type: 'string', format: 'date-time', example });

/** Text in an answer. */
export const wireText = (example: string) => z.string().meta({ example });

export const MAX_INT32 = 2_147_483_647;

/** A count in an answer. A larger sum is shown as the largest: clients in Go and Java would refuse the whole answer. */
export const int32 = (example: number) =>
  z
    .number()
    .overwrite((count) => Math.min(count, MAX_INT32))
    .meta({ type: 'integer', format: 'int32', example });

/** A floating-point number in an answer. */
export const double = (example: number) => z.number().meta({ type: 'number', format: 'double', example });
