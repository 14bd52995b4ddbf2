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

/**
 * Creates an id: prefix, 12 hex digits of milliseconds, 20 random hex digits. Newer ids sort after older ones, so that
 * indexes grow at their end.
 */
export function createId(prefix: IdPrefix): string {
  const random = randomUUID();
  // The last 20 digits of a version 4 UUID, without the fixed version digit.
  return `${prefix}_${Date.now().toString(16).padStart(12, '0')}${random.slice(20, 23)}${random.slice(24)}${random.slice(0, 5)}`;
}
