import type { Threshold } from '../../contract/webhooks';

/**
 * Whether a payload passes a subscription's threshold (specification: Subscription rules). A value that is missing, null
 * or not comparable fails every operator, `neq` too; `eq`, `neq` and `in` compare without coercion.
 */
export function passesThreshold(payload: Record<string, unknown>, threshold: Threshold): boolean {
  const actual = readPath(payload, threshold.field);
  if (actual === undefined || actual === null || typeof actual === 'object') return false;
  const { operator, value } = threshold;
  switch (operator) {
    case 'eq':
      return actual === value;
    case 'neq':
      return actual !== value;
    case 'in':
      return Array.isArray(value) && value.some((item) => item === actual);
    default: {
      if (typeof actual !== 'number') return false;
      const limit = Number(value);
      if (operator === 'gte') return actual >= limit;
      if (operator === 'gt') return actual > limit;
      return operator === 'lte' ? actual <= limit : actual < limit;
    }
  }
}

/** Follows a dotted path through own properties only. Returns undefined if a step is missing. */
export function readPath(payload: Record<string, unknown>, path: string): unknown {
  let value: unknown = payload;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
