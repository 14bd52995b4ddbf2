import { expect, it } from 'vitest';
import { createId } from '../../server/platform/ids';

it('ids of a process sort in the order in which they were made, also within a millisecond', () => {
  const ids = Array.from({ length: 2_000 }, () => createId('aud'));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^aud_[0-9a-f]{32}$/);
});
