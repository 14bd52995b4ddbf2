import { z } from 'zod';

/** Neither U+0000, which Postgres cannot store, nor a lone surrogate, which UTF-8 cannot carry. */
export const isStorableText = (text: string) => !text.includes('\0') && text.isWellFormed();

const countCodePoints = (text: string) => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

/** Text of `min` to `max` code points that can be stored as it is. */
export const text = (min: number, max: number) =>
  z
    .string()
    .refine(isStorableText, 'contains U+0000 or a lone surrogate')
    .refine(
      (value) => {
        if (value.length < min) return false;
        // A code point takes at most two UTF-16 units: most texts need no counting.
        return value.length <= max || (value.length <= 2 * max && countCodePoints(value) <= max);
      },
      `must have ${min === 0 ? 'at most' : `${min} to`} ${max} characters`,
    )
    .meta({ minLength: min === 0 ? undefined : min, maxLength: max });

/** An identifier that the pipeline or a path brings: 1 to 256 characters. */
export const identifier = () => text(1, 256);

/**
 * One word of a list, in any case on input, in the list's own spelling afterwards.
 * The document shows the list.
 */
export const word = <const W extends readonly [string, ...string[]]>(words: W) => {
  const byLowerCase = new Map(words.map((w): [string, W[number]] => [w.toLowerCase(), w]));
  return z
    .string()
    .refine((value) => byLowerCase.has(value.toLowerCase()), `must be one of ${words.join(', ')}`)
    .transform((value) => byLowerCase.get(value.toLowerCase()) as W[number])
    .meta({ type: 'string', enum: [...words] });
};

const MIN_INSTANT_MS = Date.parse('0001-01-01T00:00:00Z');
// A day short of what Postgres and `toISOString` write with four digits, so that the end of a day still fits.
const MAX_INSTANT_MS = Date.parse('9998-12-31T23:59:59.999Z');

/** An ISO 8601 date-time with offset, in whole milliseconds of UTC after parsing. */
export const instant = () =>
  z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 date-time with an offset' })
    .refine((value) => {
      const ms = Date.parse(value);
      return ms >= MIN_INSTANT_MS && ms <= MAX_INSTANT_MS;
    }, 'must be a real date of the years 1 to 9998')
    .transform((value) => new Date(value).toISOString());

/** A date-time in an answer. */
export const wireInstant = () =>
  z.string().meta({ type: 'string', format: 'date-time', example: '2026-01-31T09:30:00.000Z' });

/** A count in an answer. */
export const int32 = () => z.number().meta({ type: 'integer', format: 'int32' });

/** A floating-point number in an answer. */
export const double = () => z.number().meta({ type: 'number', format: 'double' });
