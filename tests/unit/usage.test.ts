import { describe, expect, it } from 'vitest';
import { usageInput } from '../../contract/usage';
import { resolveRange } from '../../server/domain/usage';

const NOW = new Date('2026-01-31T09:30:00.000Z');
const resolve = (query: Record<string, string>) => resolveRange(usageInput.parse(query), NOW);

describe('a range of usage', () => {
  it('is the last 30 days by default, from the start of a day', () => {
    expect(resolve({})).toEqual({ startDate: '2026-01-01T00:00:00.000Z', endDate: NOW.toISOString() });
  });

  it('begins with the day of its start, however late in that day it is', () => {
    const { startDate } = resolve({ startDate: '2026-01-29T23:59:59.999999Z' });
    expect(startDate).toBe('2026-01-29T00:00:00.000Z');
  });

  it('that ends within the very first month begins with the year 1', () => {
    for (const endDate of ['0001-01-01', '0001-01-29', '0001-01-30T00:00:00Z'])
      expect(resolve({ endDate }).startDate).toBe('0001-01-01T00:00:00.000Z');
    expect(resolve({ endDate: '0001-02-02' }).startDate).toBe('0001-01-04T00:00:00.000Z');
  });
});
