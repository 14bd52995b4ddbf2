import type { z } from 'zod';

/** Names of types for error messages. */
const NOUNS = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'an array'],
  ['object', 'an object'],
  ['record', 'an object'],
  ['null', 'null'],
]);
const UNITS = new Map([
  ['string', 'characters'],
  ['array', 'items'],
]);

/**
 * Words an issue that the schema does not word itself. The text follows the field's name: `enabled must be true or
 * false`.
 */
export function wordIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NOUNS.get(issue.expected) ?? 'of another type'}`;
    case 'too_small':
      return wordLimit('at least', issue.minimum, issue.origin);
    case 'too_big':
      return wordLimit('at most', issue.maximum, issue.origin);
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'invalid_union':
      return Array.isArray(issue.options) ? `must be one of ${issue.options.join(', ')}` : 'is not valid';
    default:
      return 'is not valid';
  }
}

function wordLimit(bound: string, limit: number | bigint, origin: string): string {
  const unit = UNITS.get(origin);
  if (unit && bound === 'at least' && limit === 1) return 'must not be empty';
  return unit ? `must have ${bound} ${limit} ${unit}` : `must be ${bound} ${limit}`;
}

/** A message for a wrong value. For a missing value, the default `is required` applies. */
export const unlessMissing = (message: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? undefined : message;
