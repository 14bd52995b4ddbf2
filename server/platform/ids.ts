import { randomUUID } from 'node:crypto';

export type IdPrefix =
  | 'int'
  | 'key'
  | 'evt'
  | 'whk'
  | 'dlv'
  | 'req'
  | 'stf'
  | 'aud'
  | 'ste'
  | 'rep'
  | 'sch'
  | 'rul'
  | 'obx'
  | 'vie'
  | 'ntc'
  | 'era';

const MAX_COUNT = 0xffff;
/** The time of the last id, and how many before it have the same. */
let last = { ms: 0, count: 0 };

/**
 * Creates an id: prefix, 12 hex digits of milliseconds, 4 that count within one, 16 random ones. The ids of a process sort in the order
 * in which they were made: so do rows of the same millisecond, and indexes grow at their end.
 */
export function createId(prefix: IdPrefix): string {
  const ms = Date.now();
  last = { ms, count: ms === last.ms ? Math.min(last.count + 1, MAX_COUNT) : 0 };
  const random = randomUUID();
  return `${prefix}_${toHex(ms, 12)}${toHex(last.count, 4)}${random.slice(24)}${random.slice(0, 4)}`;
}

const toHex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
