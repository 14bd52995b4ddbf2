import { z } from 'zod';
import { instantText, isStorableText, text } from '../../contract/fields';

// Ids must not contain control characters. The ids `.` and `..` would vanish from a path.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/** An id of the pipeline: 1 to 256 characters, without control characters, not `.` or `..`. */
export const factId = () =>
  text(1, 256).refine(
    (id) => id !== '.' && id !== '..' && !CONTROL_CHARACTERS.test(id),
    'must be free of control characters and not . or ..',
  );

/** An address of a page. */
export const pageUrl = () => text(1, 8192);

/** A time of the pipeline. */
export const factTime = instantText;

/** A score or a confidence. */
export const unitInterval = () => z.number().min(0, 'must be between 0 and 1').max(1, 'must be between 0 and 1');

export const MAX_INT32 = 2_147_483_647;
/** A count that fits a Postgres integer. */
export const count = (max = MAX_INT32) => z.int().min(0).max(max);

const MAX_DEPTH = 16;

/** A free-form JSON object: storable text all the way down, at most 16 levels. */
export const jsonObject = () =>
  z
    .record(z.string(), z.unknown())
    .refine((value) => isStorable(value, MAX_DEPTH), 'is nested too deeply or holds what cannot be stored');

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isStorableText(value);
  // A number such as 1e400 is parsed as Infinity, which JSON cannot represent.
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, item]) => isStorableText(key) && isStorable(item, depth - 1));
}
